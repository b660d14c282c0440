import type { Described, DescribedAnswer } from '@ori/api/operations';
import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiOperationObject } from 'zod-openapi';
import { answersRecord, readerOf } from '../http/execute.ts';
import { pathParametersOf } from '../http/path-parameters.ts';
import type { Operation } from '../operation.ts';
import { OPERATIONS } from '../operations.ts';
import { exampleOf } from './example-of.ts';
import { AppHeaders, IdempotencyKey, IfMatch, IfNoneMatch } from './parameters.ts';
import { refusalsOf } from './refusals.ts';
import { answer, describeRefusals } from './responses.ts';

const FileHeaders = z.object({
  ETag: z.string().meta({ description: 'Strong entity tag: the SHA-256 of the icon.' }),
  'Cache-Control': z.enum(['private, no-cache', 'private, max-age=31536000, immutable']),
  'X-Content-Type-Options': z.literal('nosniff'),
});

const PlainHeaders = z.object({ 'Cache-Control': z.literal('no-store') });
const RecordHeaders = PlainHeaders.extend({
  ETag: z.string().meta({ description: 'Strong entity tag of the record, for `If-Match`.' }),
});

export function describeManagement(operation: Operation): Described {
  const { operationId, family, method, path, summary, description, returns, query, body } = operation;
  const isFile = 'mediaTypes' in operation;
  const isRecord = answersRecord(operation);
  const isConditional = readerOf(operation, OPERATIONS) !== undefined;
  const isCacheable = isFile || (isRecord && method === 'GET');
  const headers = z.object({
    ...(family !== 'Interns' && family !== 'BYOK' && AppHeaders.shape),
    ...(isCacheable && IfNoneMatch.shape),
    ...(isConditional && IfMatch.shape),
    ...(method === 'POST' && IdempotencyKey.shape),
  });
  const success: DescribedAnswer = isFile
    ? { description: returns, mediaTypes: operation.mediaTypes, headers: FileHeaders }
    : {
        description: returns,
        body: operation.result,
        headers: isRecord ? RecordHeaders : PlainHeaders,
      };
  return {
    operationId,
    tag: family,
    method,
    path,
    summary,
    description,
    body,
    scopes: [],
    query: query as z.ZodObject | undefined,
    headers,
    answers: {
      [operation.status]: success,
      ...(isCacheable && {
        304: {
          description: 'The cached answer is still current.',
          headers: isFile ? FileHeaders : RecordHeaders,
        },
      }),
    },
    refusals: refusalsOf(operation, isConditional),
  };
}

export function renderOperation(described: Described, baseUrl: string): ZodOpenApiOperationObject {
  const { operationId, tag, summary, description, scopes, path, query, headers, body } = described;

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
    requestParams: {
      ...(pathParameters && { path: pathParameters }),
      ...(query && { query }),
      ...(headers && { header: headers }),
    },
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: { ...Object.fromEntries(answers), ...describeRefusals(described.refusals) },
    'x-codeSamples': [{ lang: 'bash', label: 'curl', source: curlOf(described, baseUrl) }],
  };
}

function contentOf({ body, mediaTypes }: Omit<DescribedAnswer, 'description'>) {
  if (body !== undefined) return json(body);
  const schema: ZodOpenApiMediaTypeObject['schema'] = { type: 'string', format: 'binary' };
  return mediaTypes && Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

function json(schema: z.ZodType): Record<'application/json', ZodOpenApiMediaTypeObject> {
  const example = exampleOf(schema);
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}

/**
 * The call of an operation with its own examples, for a shell. The credential is in the environment; that of a session,
 * which may be bound to a key, is what `ori` prints for this request.
 */
export function curlOf(described: Described, baseUrl: string): string {
  const { method, path, body, answers } = described;
  const parameters = pathParametersOf(path)?.shape ?? {};
  const target = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters[name] && exampleOf(parameters[name])),
  );
  const credential = credentialOf(described);
  const url = `'${baseUrl}${target}'`;
  const content = body && JSON.stringify(exampleOf(body)).replaceAll("'", "'\\''");
  const data = content === undefined ? [] : [`-d '${content}'`];
  const lines = [
    ...(credential === SESSION ? [`ori headers ${[method, url, ...data].join(' ')} |`] : []),
    `curl --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} ${url}`,
    ...(credential === undefined
      ? []
      : [credential === SESSION ? '-H @-' : `-H "Authorization: Bearer $${credential}"`]),
    ...(content === undefined ? [] : ["-H 'Content-Type: application/json'", ...data]),
    ...(answers[200]?.mediaTypes === undefined ? [] : ['-o answer']),
  ];
  return lines.join(' \\\n  ');
}

const SESSION = 'the headers of a session';

function credentialOf({ scopes, tag }: Described): string | undefined {
  if (scopes === null) return undefined;
  if (scopes.length > 0) return SESSION;
  return tag === 'Interns' ? 'ORI_API_KEY' : 'ORI_MANAGEMENT_KEY';
}
