import type { Deadline } from '@ori/http/deadline';
import type { z } from 'zod';
import type { Caller, Principal } from '../callers/caller.ts';
import type { Services } from './services.ts';

/** The families of the interface; their errors differ in what they carry. */
export type Family = 'Interns' | 'BYOK' | 'Guardrails';

/** What an operation is given: everything that came from outside has passed its schema. */
export interface Call<Who, Query, Body> {
  readonly principal: Who;
  /** Parameters of the path, decoded; nothing else is known of them. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly deadline: Deadline;
}

/** Bytes that are not JSON, with the headers that belong to them. */
export interface FileAnswer {
  readonly status: 200 | 304;
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
  /** What a caller should know beyond the shapes, in Markdown. */
  readonly description: string;
  /** What the answer of a success is. */
  readonly returns: string;
  /** Who may call; throws a Refusal for anybody else. Comes before anything is read. */
  readonly permit: (caller: Caller) => Who;
  readonly query?: Query;
  readonly body?: Body;
  readonly status: 200 | 201;
  /** The statuses that not every operation has: what is forbidden is a 401 where 403 is not listed. */
  readonly refusals: readonly (403 | 404 | 409)[];
  /** A query or a body that is refused with 400: the document shows the answer. Absent: a 404 is given instead. */
  readonly invalidExample?: { readonly query: string } | { readonly body: unknown };
}

export interface JsonOperation extends Description<Principal, z.ZodType, z.ZodType> {
  readonly result: z.ZodType;
  readonly run: (call: Call<Principal, unknown, unknown>, services: Services) => Promise<unknown>;
}

export interface FileOperation extends Description<Principal, z.ZodType, z.ZodType> {
  readonly mediaTypes: readonly string[];
  readonly send: (
    call: Call<Principal, unknown, unknown> & { readonly ifNoneMatch: string | undefined },
    services: Services,
  ) => Promise<FileAnswer>;
}

/** One operation of the interface: the router, the validation and the OpenAPI document all come from it. */
export type Operation = JsonOperation | FileOperation;

/** Declares an operation that answers with JSON; the types of its call follow from its schemas. */
export function jsonOperation<
  Who extends Principal,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Result extends z.ZodType,
>(
  operation: Description<Who, Query, Body> & {
    readonly result: Result;
    readonly run: (
      call: Call<Who, z.output<Query>, z.output<Body>>,
      services: Services,
    ) => Promise<z.output<Result>>;
  },
): JsonOperation {
  return operation as unknown as JsonOperation;
}

/** Declares an operation that answers with a file. */
export function fileOperation<Who extends Principal, Query extends z.ZodType, Body extends z.ZodType>(
  operation: Description<Who, Query, Body> & {
    readonly mediaTypes: readonly string[];
    readonly send: (
      call: Call<Who, z.output<Query>, z.output<Body>> & { readonly ifNoneMatch: string | undefined },
      services: Services,
    ) => Promise<FileAnswer>;
  },
): FileOperation {
  return operation as unknown as FileOperation;
}
