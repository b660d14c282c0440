import { OriError } from '@ori/proof/errors';

/** The bytes are not exactly one JSON value, or are beyond the limits. Its message never quotes them. */
export class JsonError extends OriError<'not_json' | 'duplicate_member' | 'beyond_limits'> {
  override readonly name = 'JsonError';
}

/** The limits of a JSON text, checked before it is parsed: parsing and validating more would delay other requests. */
export interface JsonLimits {
  /** Characters, without white space between tokens. */
  readonly lengthMax: number;
  /** Nesting depth of objects and arrays. */
  readonly depthMax: number;
  /** Members and items of all objects and arrays. */
  readonly valuesMax: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON of RFC 8259, in UTF-8 without a BOM, in which no object has two members with one name:
 * parsers disagree on which one counts.
 *
 * @throws {JsonError}
 */
export function parseStrictJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  try {
    const text = utf8.decode(bytes);
    const members = countMembers(text, limits);
    const value: unknown = JSON.parse(text);
    if (membersOf(value) === members) return value;
  } catch (error) {
    if (error instanceof JsonError) throw error;
    // The parser's error is not the cause, because it quotes the text, and causes are logged.
    throw new JsonError('not_json', 'not JSON in UTF-8');
  }
  throw new JsonError('duplicate_member', 'an object has a duplicate member');
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  const own = Array.isArray(value) ? 0 : items.length;
  return items.reduce((members: number, item) => members + membersOf(item), own);
}

/**
 * Counts the members of all objects in valid JSON, by the colons outside strings. JSON.parse keeps the last of two
 * members with the same name, so a text with more members than were parsed contains a duplicate. A text that is not valid
 * only has to be within the limits.
 */
function countMembers(json: string, { lengthMax, depthMax, valuesMax }: JsonLimits): number {
  let members = 0;
  let depth = 0;
  let values = 0;
  let spaces = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at] as string;
    if (character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (!isInString) {
      if (character === ':') members += 1;
      else if (character === ',') values += 1;
      else if (character === '[' || character === '{') {
        values += 1;
        depth += 1;
      } else if (character === ']' || character === '}') depth -= 1;
      else if (character <= ' ') spaces += 1;
    }
    if (at - spaces >= lengthMax || depth > depthMax || values > valuesMax) {
      throw new JsonError('beyond_limits', 'too large, too deep or with too many values');
    }
  }
  return members;
}
