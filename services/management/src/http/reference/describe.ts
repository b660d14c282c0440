import type { Presentation } from '@ori/http/envelope';
import type { DescribedOperation } from '@ori/signing-api/operations';
import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiOperationObject } from 'zod-openapi';
import type { Operation } from '../operation.ts';
import { answer, describeRefusals } from './answers.ts';
import { codeSamplesOf } from './code-samples.ts';
import { exampleOf } from './example-of.ts';
import { AppHeaders, IfNoneMatch, pathParametersOf } from './parameters.ts';
import { refusalsOf } from './refusals.ts';

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
  /** Set if the path is not below the base address. */
  readonly origin?: string;
  readonly query?: z.ZodObject | undefined;
  readonly headers?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  readonly refusals: readonly Presentation[];
}

interface DescribedAnswer {
  readonly description: string;
  readonly body?: z.ZodType;
  /** Of bytes that are not JSON. */
  readonly mediaTypes?: readonly string[];
  readonly headers?: z.ZodObject;
}

const FileHeaders = z.object({
  ETag: z.string().meta({ description: 'Strong entity tag: the SHA-256 of the icon.' }),
  'Cache-Control': z.enum(['private, no-cache', 'private, max-age=31536000, immutable']),
  'X-Content-Type-Options': z.literal('nosniff'),
});

export function describeManagement(operation: Operation): Described {
  const { operationId, family, method, path, summary, description, returns, query, body } = operation;
  const isFile = 'mediaTypes' in operation;
  const success: DescribedAnswer = isFile
    ? { description: returns, mediaTypes: operation.mediaTypes, headers: FileHeaders }
    : {
        description: returns,
        body: operation.result,
        headers: z.object({ 'Cache-Control': z.literal('no-store') }),
      };
  return {
    ...{ operationId, tag: family, method, path, summary, description, body },
    scopes: [],
    query: query as z.ZodObject | undefined,
    headers: isFile ? IfNoneMatch : family === 'Guardrails' ? AppHeaders : undefined,
    answers: {
      [operation.status]: success,
      ...(isFile && { 304: { description: 'The cached answer is still current.', headers: FileHeaders } }),
    },
    refusals: refusalsOf(operation),
  };
}

export function describeSigner(operation: DescribedOperation, baseUrl: string): Described {
  const { path, scopes = null, requestHeaders: headers, requestBody: body, ...described } = operation;
  if (path !== 'well-known') return { ...described, tag: 'Interns', path, scopes, headers, body };
  const { origin, pathname } = new URL(baseUrl);
  const wellKnown = `/.well-known/oauth-protected-resource${pathname}`;
  return { ...described, tag: 'Discovery', path: wellKnown, origin, scopes };
}

export function renderOperation(described: Described, baseUrl: string): ZodOpenApiOperationObject {
  const { operationId, tag, summary, description, scopes, origin, path, query, headers, body } = described;

  const pathParameters = pathParametersOf(path);
  const answers = Object.entries(described.answers).map(([status, { description, ...content }]) => [
    status,
    answer(description, contentOf(content), content.headers?.shape),
  ]);
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(scopes === null
      ? { security: [] }
      : scopes.length > 0 && { security: [{ bearer: [...scopes] }, { dpop: [...scopes] }] }),
    ...(origin !== undefined && { servers: [{ url: origin }] }),
    requestParams: {
      ...(pathParameters && { path: pathParameters }),
      ...(query && { query }),
      ...(headers && { header: headers }),
    },
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: { ...Object.fromEntries(answers), ...describeRefusals(described.refusals) },
    'x-codeSamples': codeSamplesOf(described, baseUrl),
  };
}

function contentOf({ body, mediaTypes }: Omit<DescribedAnswer, 'description'>) {
  if (body !== undefined) return json(body);
  return mediaTypes && Object.fromEntries(mediaTypes.map((type) => [type, {}]));
}

function json(schema: z.ZodType): Record<'application/json', ZodOpenApiMediaTypeObject> {
  const example = exampleOf(schema);
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}
