import type { Deadline } from '@ori/http/deadline';
import type { KekRing } from '@ori/sealing/kek-ring';
import type { Database } from '@ori/store/database';
import type { z } from 'zod';
import type { Caller, Principal } from './callers/caller.ts';
import type { PatternCompiler } from './guardrails/pattern-compiler.ts';

export interface Services {
  /** The database, or the transaction in which the operation runs. */
  readonly db: Database;
  /** Seals provider keys, and answers that are kept. */
  readonly ring: KekRing;
  readonly patterns: PatternCompiler;
}

/** The families of operations, which differ in their error format. */
export type Family = 'Interns' | 'BYOK' | 'Guardrails' | 'API keys' | 'Workspaces' | 'Organization';

/** The input of an operation, validated by its schemas. */
export interface Call<Who, Query, Body> {
  readonly principal: Who;
  /** The record that the path names; empty if it names none. */
  readonly id: string;
  readonly target: string;
  readonly query: Query;
  readonly body: Body;
  /** For a change: members of the record that came back with it and that it cannot change. */
  readonly returned: Readonly<Record<string, unknown>>;
  readonly deadline: Deadline;
}

/** Bytes that are not JSON, with the headers that belong to them. */
export interface FileAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

interface Description<Who extends Principal, Query extends z.ZodType, Body extends z.ZodType> {
  readonly operationId: string;
  readonly family: Family;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base address, with `{name}` for a parameter. */
  readonly path: string;
  readonly summary: string;
  /** Documentation for callers beyond the schemas, in Markdown. */
  readonly description: string;
  readonly returns: string;
  /** Checks the caller's permission before anything is read; throws a Refusal. */
  readonly permit: (caller: Caller) => Who;
  readonly query?: Query;
  readonly body?: Body;
  readonly status: 200 | 201;
  /** The interface's table of its statuses is closed: overload is 500 instead of 429 and 503. */
  readonly isClosed?: true;
  /** The statuses that only some operations have. Without 403, a forbidden request gets 401. */
  readonly refusals: readonly (403 | 404 | 409)[];
  /**
   * A query or a body that is refused with 400, for the example in the document. If absent, 404 is answered instead.
   */
  readonly invalidExample?: { readonly query: string } | { readonly body: unknown };
}

export interface JsonOperation extends Description<Principal, z.ZodType, z.ZodType> {
  readonly result: z.ZodType;
  /** Refuses a body that would cost too much, before the request takes its turn and a connection to the database. */
  readonly refuseCostly?: (call: Call<Principal, unknown, unknown>, services: Services) => Promise<void>;
  readonly run: (call: Call<Principal, unknown, unknown>, services: Services) => Promise<unknown>;
}

export interface FileOperation extends Description<Principal, z.ZodType, z.ZodType> {
  readonly mediaTypes: readonly string[];
  readonly run: (call: Call<Principal, unknown, unknown>, services: Services) => Promise<FileAnswer>;
}

/** One operation of the API: the source of routing, validation and the OpenAPI document. */
export type Operation = JsonOperation | FileOperation;

/** Where a declaration does not say otherwise. */
const DEFAULTS = { status: 200, refusals: [] } as const;

type Declaration<Who extends Principal, Query extends z.ZodType, Body extends z.ZodType> = Omit<
  Description<Who, Query, Body>,
  keyof typeof DEFAULTS
> &
  Partial<Pick<Description<Who, Query, Body>, keyof typeof DEFAULTS>>;

/** Declares an operation that answers with JSON; the types of its call follow from its schemas. */
export function jsonOperation<
  Who extends Principal,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Result extends z.ZodType,
>(
  operation: Declaration<Who, Query, Body> & {
    readonly result: Result;
    readonly refuseCostly?: (
      call: Call<Who, z.output<Query>, z.output<Body>>,
      services: Services,
    ) => Promise<void>;
    readonly run: (
      call: Call<Who, z.output<Query>, z.output<Body>>,
      services: Services,
    ) => Promise<z.output<Result>>;
  },
): JsonOperation {
  return { ...DEFAULTS, ...operation } as unknown as JsonOperation;
}

export function fileOperation<Who extends Principal, Query extends z.ZodType, Body extends z.ZodType>(
  operation: Declaration<Who, Query, Body> & {
    readonly mediaTypes: readonly string[];
    readonly run: (
      call: Call<Who, z.output<Query>, z.output<Body>>,
      services: Services,
    ) => Promise<FileAnswer>;
  },
): FileOperation {
  return { ...DEFAULTS, ...operation } as unknown as FileOperation;
}
