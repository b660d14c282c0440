import { ED25519 } from '@ori/proof/algorithms';

type Pattern = readonly [RegExp, string];

const PATTERNS: readonly Pattern[] = [
  [/\beyJ[\w-]{4,}\.[\w-]+(\.[\w-]*)*/g, '[redacted]'],
  [/\bsk-ori-[\w-]+/g, '[redacted]'],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  [/:\/\/[^/\s@"]*@/g, '://[redacted]@'],
  [new RegExp(`\\b${ED25519.signatureText}`, 'g'), '[redacted]'],
];

/** Every match contains one of these markers; most texts have none and need no further check. */
const MARKS = new RegExp(['eyJ', 'sk-ori-', 'bearer', 'basic', '://', ED25519.signatureMark].join('|'), 'i');

/**
 * Redacts everything in a text that looks like a token, an API key, a signature or the user information of a URL. JSON
 * stays JSON.
 */
export function scrub(text: string): string {
  if (!MARKS.test(text)) return text;
  let result = text;
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  return result;
}

const TEXT_CHARACTERS_MAX = 1000;

const SECRET_KEY =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-ori-.*|headers|rawheaders|body|args)$/i;
const SECRET_WORD = /token|secret|password|passphrase|credential|private|seed|apikey|api_key|signature/i;

/** A copy for a log line: secrets are redacted by name and by shape, errors are described, bytes are never shown. */
export function scrubDeep(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return cut(value);
  if (value instanceof Error) return describeError(value);
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 5) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => scrubDeep(item, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return scrubDeep(value.toJSON(), depth + 1);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const hidden = SECRET_KEY.test(key) || (SECRET_WORD.test(key) && typeof item !== 'number');
      return [key, hidden ? '[redacted]' : scrubDeep(item, depth + 1)];
    }),
  );
}

export interface ErrorDescription {
  class: string;
  code?: string;
  message: string;
  causes?: string[];
}

/**
 * Describes an error for the log: class, code, message and the messages of its causes, without other properties. A
 * message that may quote input is omitted: a parser's excerpt, a database's value, a message for the caller.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { class: typeof error, message: 'not an Error' };
  const description: ErrorDescription = { class: error.name, message: messageOf(error) };
  if ('code' in error && /^[\w.-]{1,64}$/.test(String(error.code))) description.code = String(error.code);
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(`${cause.name}: ${messageOf(cause)}`);
  }
  if (causes.length > 0) description.causes = causes;
  return description;
}

function messageOf(error: Error): string {
  const isOfDatabase = 'severity' in error && 'code' in error;
  const isForCaller = 'isForCaller' in error && error.isForCaller === true;
  const quotes = error instanceof SyntaxError || isOfDatabase || isForCaller;
  return quotes ? '[omitted: may quote input]' : cut(error.message);
}

/** Truncated after scrubbing, so that no half token remains. */
function cut(text: string): string {
  const clean = scrub(text.slice(0, 10 * TEXT_CHARACTERS_MAX));
  return clean.length > TEXT_CHARACTERS_MAX ? `${clean.slice(0, TEXT_CHARACTERS_MAX)}…` : clean;
}
