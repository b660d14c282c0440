import { PROOF_METHOD, type ProofHeaderValues, bodySha256 as sha256Hex } from '@ori/proof/wire';
import { z } from 'zod';
import { pathsLike } from './path-guesses.ts';

export interface SentCall {
  readonly origin: string;
  readonly path: string;
  readonly contentType: string;
  readonly proof: ProofHeaderValues;
  readonly body: { readonly sha256: string; readonly bytes: number };
  /** The bytes themselves, if they are few enough to explain a change. */
  readonly text?: string;
}

/** A change of one part of a call in transit. `sent` and `arrived` are present if known. */
export interface Change {
  readonly field: string;
  readonly change: 'changed' | 'added' | 'lost' | 'repeated' | 'emptied';
  readonly sent?: string;
  readonly arrived?: string | undefined;
}

const Digest = z.string().regex(/^[0-9a-f]{64}$/);
/** `error.diagnosis` of a refusal (libs/public/verifier/README.md). */
const Diagnosis = z.object({
  method: Digest,
  path: Digest,
  query: z.boolean(),
  body: Digest.nullable(),
  bodyBytes: z.int().min(0).nullable(),
  headers: z.record(z.string().regex(/^[a-z0-9-]{1,64}$/), z.array(Digest).min(1).max(4)),
});

export type Diagnosis = z.infer<typeof Diagnosis>;

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'];

const encoder = new TextEncoder();
const digestOf = (text: string): string => sha256Hex(encoder.encode(text));

/** The diagnosis of a daemon; undefined if there is none, or if it is malformed. */
export function readDiagnosis(value: unknown): Diagnosis | undefined {
  const diagnosis = Diagnosis.safeParse(value);
  return diagnosis.success ? diagnosis.data : undefined;
}

/** Every part of a call that did not arrive as sent; empty if all did. */
export function changesOf(sent: SentCall, seen: Diagnosis): Change[] {
  return [...requestLine(sent, seen), ...body(sent, seen), ...headers(sent, seen)];
}

function* requestLine({ origin, path }: SentCall, seen: Diagnosis): Iterable<Change> {
  if (seen.method !== digestOf(PROOF_METHOD)) {
    yield changed(
      'method',
      PROOF_METHOD,
      METHODS.find((method) => digestOf(method) === seen.method),
    );
  }
  if (seen.path !== digestOf(path)) {
    yield changed(
      'path',
      path,
      pathsLike(path, origin).find((guess) => digestOf(guess) === seen.path),
    );
  }
  if (seen.query) yield { field: 'query', change: 'added' };
}

function* body({ body: sent, text }: SentCall, seen: Diagnosis): Iterable<Change> {
  if (seen.body === null || seen.body === sent.sha256) return;
  const bytes = `${sent.bytes} bytes`;
  if (seen.bodyBytes === 0) yield { field: 'body', change: 'lost', sent: bytes };
  else yield changed('body', bytes, `${seen.bodyBytes} bytes${guessBody(text, seen.body)}`);
}

// The values are not shown, because a refused proof could still be used.
function* headers({ contentType, proof }: SentCall, seen: Diagnosis): Iterable<Change> {
  for (const [field, sent] of Object.entries({ ...proof, 'content-type': contentType })) {
    const [first, ...more] = seen.headers[field] ?? [];
    // Proxies and some servers join repeated headers.
    const isJoined = [', ', ','].some((comma) => digestOf(sent + comma + sent) === first);
    if (first === undefined) yield { field, change: 'lost' };
    else if (more.length > 0 || isJoined) yield { field, change: 'repeated' };
    else if (first === digestOf('')) yield { field, change: 'emptied' };
    else if (first !== digestOf(sent)) yield { field, change: 'changed' };
  }
  if (seen.headers['content-encoding'] !== undefined) yield { field: 'content-encoding', change: 'added' };
}

function changed(field: string, sent: string, arrived: string | undefined): Change {
  return { field, change: 'changed', sent, arrived };
}

/** How the bytes differ, if one of the usual changes explains it. */
function guessBody(text: string | undefined, digest: string): string {
  if (text === undefined) return '';
  const guesses: [string, () => string][] = [
    [', an additional line feed', () => `${text}\n`],
    [', without the surrounding white space', () => text.trim()],
    [', reserialized as JSON', () => JSON.stringify(JSON.parse(text))],
  ];
  for (const [words, guess] of guesses) {
    try {
      if (digestOf(guess()) === digest) return words;
    } catch {
      // Not JSON, so it cannot have been reserialized.
    }
  }
  return '';
}

const SHOWN_MAX = 120;

/** Describes a change. May contain text of the user, which the caller escapes. */
export function tellChange({ field, change, sent, arrived }: Change): string {
  switch (change) {
    case 'changed': {
      const as = arrived === undefined ? 'arrived changed' : `arrived as ${shown(arrived)}`;
      return `${field}: sent${sent === undefined ? '' : ` ${shown(sent)}`}, ${as}`;
    }
    case 'added':
      return field === 'query' ? 'query: none was sent, and one arrived' : `${field}: not sent, and arrived`;
    case 'lost':
      return field === 'body' ? `body: sent ${sent}, arrived empty` : `${field}: sent, and did not arrive`;
    case 'repeated':
      return `${field}: sent once, arrived more than once`;
    case 'emptied':
      return `${field}: sent, arrived empty`;
  }
}

function shown(text: string): string {
  if (text === '') return '(empty)';
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text;
}
