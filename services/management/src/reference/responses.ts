import { renderEnvelope } from '@ori/http/envelope';
import type { Presentation } from '@ori/http/presentation';
import { z } from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';

/** The one error envelope. Generated clients have a type for it only if it is one schema, without alternatives. */
const ErrorEnvelope = z
  .strictObject({
    error: z.strictObject({
      code: z.int().meta({ description: 'The HTTP status.', example: 404 }),
      message: z.string().meta({ description: 'A message for humans.', example: 'Not found.' }),
      metadata: z
        .strictObject({
          reason: z.string().meta({ description: 'The reason, for programs.', example: 'not_found' }),
          retryable: z.boolean().meta({ description: 'Whether the same request may succeed later.' }),
        })
        .optional()
        .meta({ description: 'Of intern operations, except in answers to an invalid credential.' }),
    }),
  })
  .meta({ id: 'Error', description: 'Why a request failed.' });

const RequestId = z.string().meta({
  description: 'Identifies this request in our logs.',
  example: '0b9f6a3e-6f0e-4f0c-9d0b-1a51a1cbb1d5',
  header: { id: 'X-Request-Id' },
});

const DpopNonce = z.string().optional().meta({
  description: 'The nonce for the next DPoP proof (RFC 9449, section 8); answers a request that carried one.',
});

const HEADERS: Readonly<Record<string, string>> = {
  'WWW-Authenticate': 'The challenge of RFC 6750 and RFC 9449.',
  'Retry-After': 'Whole seconds after which to try again, at least 1.',
  RateLimit: 'The remaining turns of the exhausted limit (IETF draft).',
  'RateLimit-Policy': 'The number of turns and the window in seconds (IETF draft).',
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'A parameter or the body is not acceptable; the message says which.',
  401: 'The credential is missing, unknown, disabled, or of a kind that is not accepted here.',
  403: 'The credential is valid but does not permit this.',
  404: 'It does not exist, or is not visible to this caller.',
  408: "The route's deadline was exceeded; the message quotes it.",
  409: 'Another request is changing the same record, or runs with the same `Idempotency-Key`. Try again later.',
  412: 'The record is not as `If-Match` has it.',
  413: 'The body is larger than 1048576 bytes.',
  415: 'The body is not `application/json`, or has a content encoding.',
  422: 'The `Idempotency-Key` was used for another request.',
  429: 'Too many turns for the user or the organization, or too many requests of the caller in progress.',
  500: 'The request could not be completed. With `Retry-After`, it may be repeated.',
  503: 'The service is overloaded, or something that it needs is down. Repeat the request later.',
};

/** The description of an answer; every answer contains its request id. */
export function answer(
  description: string,
  content?: ZodOpenApiResponseObject['content'],
  headers: z.ZodRawShape = {},
): ZodOpenApiResponseObject {
  return {
    description,
    ...(content && { content }),
    headers: z.object({ ...headers, 'X-Request-Id': RequestId, 'DPoP-Nonce': DpopNonce }),
  };
}

/** The refusals by status, each with its example; `default` is for refusals of a gateway. */
export function describeRefusals(refusals: readonly Presentation[]): ZodOpenApiResponsesObject {
  const byStatus = Object.groupBy(refusals, ({ status }) => status);
  const described = Object.entries(byStatus).map(([status, ofStatus = []]) => [
    status,
    refusal(Number(status), ofStatus),
  ]);
  return {
    ...Object.fromEntries(described),
    default: answer('Any other failure, including those of a gateway.', {
      'application/json': { schema: ErrorEnvelope },
    }),
  };
}

function refusal(status: number, refusals: readonly Presentation[]): ZodOpenApiResponseObject {
  const examples = refusals.map((presentation, index) => {
    const name = presentation.reason ?? `example_${index + 1}`;
    return [name, { summary: presentation.message, value: JSON.parse(renderEnvelope(presentation)) }];
  });
  return answer(
    TITLES[status] ?? '',
    {
      'application/json': {
        schema: ErrorEnvelope,
        examples: Object.fromEntries(examples),
      },
    },
    headersOf(refusals),
  );
}

/**
 * The headers of the refusals of a status. None is required, because ogen has one type for all refusals of an operation, which
 * does not compile where only some require a header.
 */
function headersOf(refusals: readonly Presentation[]): z.ZodRawShape {
  const headers = Object.assign({}, ...refusals.toReversed().map(({ headers }) => headers));
  return Object.fromEntries(
    Object.entries<string>(headers).map(([name, example]) => [
      name,
      z
        .string()
        .optional()
        .meta({ description: HEADERS[name] ?? '', example }),
    ]),
  );
}
