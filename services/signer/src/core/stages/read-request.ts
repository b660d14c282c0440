import { type SigningRequestBody, signingRequest } from '@ori/api/request';
import { JsonError, type JsonLimits, parseStrictJson } from '@ori/http/strict-json';
import type { Content } from './require-content.ts';
import type { Grant } from './require-scope.ts';
import { SigningError } from './signing-error.ts';

/** A valid body is below 13 KiB, even with every character of its path escaped. */
const LIMITS: JsonLimits = { lengthMax: 16 * 1024, depthMax: 8, valuesMax: 64 };

/** What a caller with a grant wants signed. */
class Order {
  protected readonly stage = 'readRequest';
  readonly grant: Grant;
  readonly bodySha256: string;
  readonly route: { readonly method: 'POST'; readonly path: string } | undefined;

  constructor(grant: Grant, body: SigningRequestBody) {
    this.grant = grant;
    this.bodySha256 = body.bodySha256;
    this.route = body.route;
  }
}

export type { Order };

/**
 * Parses the body as RFC 8259 JSON in UTF-8 without a BOM, of exactly the interface's shape.
 *
 * @throws SigningError `invalid_body`
 */
export function readRequest(grant: Grant, { bytes }: Content): Order {
  const parsed = signingRequest.safeParse(parse(bytes));
  if (!parsed.success) throw invalid('not a signing request');
  return new Order(grant, parsed.data);
}

function parse(body: Uint8Array): unknown {
  try {
    return parseStrictJson(body, LIMITS);
  } catch (error) {
    throw error instanceof JsonError ? invalid(error.message) : error;
  }
}

const invalid = (message: string) => new SigningError('invalid_body', message);
