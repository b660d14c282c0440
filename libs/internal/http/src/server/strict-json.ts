import { OriError } from '@ori/proof/errors';

/** The bytes are not exactly one JSON value. Its message never quotes them. */
export class JsonError extends OriError<'not_json' | 'duplicate_member'> {
  override readonly name = 'JsonError';
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON of RFC 8259, in UTF-8 without a BOM, in which no object has two members with one name:
 * parsers disagree on which one counts.
 *
 * @throws {JsonError}
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    // The parser's error is not the cause, because it quotes the text, and causes are logged.
    throw new JsonError('not_json', 'not JSON in UTF-8');
  }
  if (membersOf(value) !== countMembers(text))
    throw new JsonError('duplicate_member', 'an object has a duplicate member');
  return value;
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  let members = Array.isArray(value) ? 0 : items.length;
  for (const item of items) members += membersOf(item);
  return members;
}

/**
 * Counts the members of all objects in valid JSON, by the colons outside strings. JSON.parse keeps the last of two
 * members with the same name, so a text with more members than were parsed contains a duplicate.
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
