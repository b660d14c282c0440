import type { Presentation } from '@ori/http/presentation';
import type { z } from 'zod';

/** An operation of either service, as described in the document. */
export interface Described {
  readonly operationId: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The scopes that a session needs; null for a public operation. */
  readonly scopes: readonly string[] | null;
  readonly query?: z.ZodObject | undefined;
  readonly headers?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  readonly refusals: readonly Presentation[];
}

export interface DescribedAnswer {
  readonly description: string;
  readonly body?: z.ZodType;
  /** Of bytes that are not JSON. */
  readonly mediaTypes?: readonly string[];
  readonly headers?: z.ZodObject;
}
