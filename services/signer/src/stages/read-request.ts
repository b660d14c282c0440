import { type SigningRequestBody, signingRequest } from '@ori/signing-api/request';
import type { Grant } from './require-scope.ts';
import { SigningError } from './signing-error.ts';

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
 * Fifth stage. Parses the body as RFC 8259 JSON in UTF-8 without a BOM, of exactly the interface's shape.
 *
 * @throws SigningError `invalid_body`
 */
export function readRequest(grant: Grant, body: Uint8Array): Order {
  const text = decode(body);
  const parsed = signingRequest.safeParse(parse(text));
  if (!parsed.success) throw invalid('not of the shape of a signing request');
  const membersRead = parsed.data.route === undefined ? 1 : 4;
  if (countMembers(text) !== membersRead) throw invalid('a member is given twice');
  return new Order(grant, parsed.data);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    throw invalid('not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('not JSON');
  }
}

/**
 * Counts the members of all objects in valid JSON, by the colons outside strings. JSON.parse keeps the last of
 * two members with the same name, so a text with more members than were parsed contains a duplicate.
 */
function countMembers(json: string): number {
  let members = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '\\') index += 1;
    else if (character === '"') isInString = !isInString;
    else if (character === ':' && !isInString) members += 1;
  }
  return members;
}

/** Without the parser's error as the cause: it quotes the body, and causes are logged. */
const invalid = (message: string) => new SigningError('invalid_body', message);
