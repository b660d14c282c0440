import { signingRequest } from '@ori/api/request';
import { JsonError, type JsonLimits, parseStrictJson } from '@ori/http/strict-json';
import type { Content } from './require-content.ts';
import type { Grant } from './require-scope.ts';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** A valid body is below 13 KiB, even with every character of its path escaped. */
const LIMITS: JsonLimits = { lengthMax: 16 * 1024, depthMax: 8, valuesMax: 64 };

/** What a caller with a grant wants signed. */
export interface Order extends Made<'readRequest'> {
  readonly grant: Grant;
  readonly bodySha256: string;
  readonly route: { readonly method: 'POST'; readonly path: string } | undefined;
}

/**
 * Parses the body as RFC 8259 JSON in UTF-8 without a BOM, of exactly the interface's shape.
 *
 * @throws SigningError `invalid_body`
 */
export function readRequest(grant: Grant, { bytes }: Content): Order {
  const parsed = signingRequest.safeParse(parse(bytes));
  if (!parsed.success) throw invalid('not a signing request');
  return made<Order>({ grant, bodySha256: parsed.data.bodySha256, route: parsed.data.route });
}

function parse(body: Uint8Array): unknown {
  try {
    return parseStrictJson(body, LIMITS);
  } catch (error) {
    throw error instanceof JsonError ? invalid(error.message) : error;
  }
}

const invalid = (message: string) => new SigningError('invalid_body', message);
