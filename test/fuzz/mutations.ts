import fc from 'fast-check';
import type { SignedRequest } from '../../libs/public/verifier/src/request.ts';

/** A change after which the proof must be refused: the name of the changed part, and the change. */
export interface Mutation {
  readonly target: string;
  readonly apply: (request: SignedRequest) => SignedRequest;
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SIGNATURE = 'x-ori-invoke-signature';
const SIGNATURE_V2 = 'x-ori-invoke-signature-v2';
const NONCE = 'x-ori-invoke-nonce';
const USER = 'x-ori-invoke-user';
const TIMESTAMP = 'x-ori-invoke-timestamp';

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const anyCharacter = fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code));
const place = fc.nat({ max: 4096 });

/** Replaces, removes, repeats or inserts one character, or cuts the text. */
const edit = fc
  .tuple(place, anyCharacter, fc.constantFrom('replace', 'remove', 'repeat', 'insert', 'cut'))
  .map(([at, character, how]) => (text: string) => {
    const index = text.length === 0 ? 0 : at % text.length;
    const [head, rest] = [text.slice(0, index), text.slice(index)];
    if (how === 'replace') return head + character + rest.slice(1);
    if (how === 'remove') return head + rest.slice(1);
    if (how === 'repeat') return head + rest.slice(0, 1) + rest;
    if (how === 'insert') return head + character + rest;
    return head;
  });

type Edit = (text: string) => string;

/** The same bytes, or nearly, in an encoding that is not allowed. */
const misspelling: fc.Arbitrary<Edit> = fc.oneof(
  fc.nat({ max: 15 }).map((step) => (text: string) => {
    const last = BASE64.indexOf(text[85] ?? 'A');
    return `${text.slice(0, 85)}${BASE64[(last & 0x30) | ((last + step) & 0x0f)]}==`;
  }),
  fc.constantFrom<Edit>(
    (text) => text.replace(/=+$/, ''),
    (text) => text.replace(/==$/, '='),
    (text) => `${text}=`,
    (text) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/==$/, ''),
    (text) => ` ${text}`,
    (text) => `${text} `,
    (text) => `${text.slice(0, 44)}\n${text.slice(44)}`,
    (text) => Buffer.from(text, 'base64').toString('hex'),
    (text) => `"${text}"`,
    (text) => `${text},${text}`,
  ),
);

const lowerCase = fc.constant<Edit>((text) => text.toLowerCase());

const oddNumber = fc.constantFrom<Edit>(
  (text) => `0${text}`,
  (text) => `+${text}`,
  (text) => `${text}.0`,
  (text) => `${text}e0`,
  (text) => `0x${Number(text).toString(16)}`,
  (text) => `${text}000`,
  (text) => ` ${text}`,
  (text) => `-${text}`,
);

const otherTime = fc
  .integer({ min: -200, max: 200 })
  .map((by) => (text: string) => String(Number(text) + by));

const otherPath = fc.oneof(
  edit,
  fc.constantFrom<Edit>(
    (path) => `${path}?`,
    (path) => `${path}?a=1`,
    (path) => `${path}#a`,
    (path) => `${path}/`,
    (path) => `/${path}`,
    (path) => `http://daemon${path}`,
    (path) => `/.${path}`,
    (path) => `/x/..${path}`,
    (path) => path.toUpperCase(),
    (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    (path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    () => '*',
    () => '',
  ),
);

const header = (name: string, how: fc.Arbitrary<Edit>): fc.Arbitrary<Mutation> =>
  how.map((change) => ({ target: name, apply: (request) => mapHeader(request, name, change) }));

function mapHeader(request: SignedRequest, header: string, change: Edit): SignedRequest {
  const rawHeaders = request.rawHeaders.map((text, index, list) =>
    index % 2 === 1 && list[index - 1]?.toLowerCase() === header ? change(text) : text,
  );
  return { ...request, rawHeaders };
}

/** Removes, repeats, renames or joins a header of the proof. */
const presence = (headers: readonly string[]): fc.Arbitrary<Mutation> =>
  fc
    .tuple(
      fc.constantFrom(...headers),
      fc.constantFrom('remove', 'repeat', 'repeat in capitals', 'alias', 'dots'),
      visible,
    )
    .map(([header, how, character]) => ({
      target: `presence of ${header}`,
      apply: (request) => {
        const pairs = pairsOf(request);
        const own = pairs.find(([name]) => name === header) ?? [header, ''];
        const others = pairs.filter(([name]) => name !== header);
        const changed: Record<string, (readonly [string, string])[]> = {
          remove: [],
          repeat: [own, [own[0], own[1] + character]],
          'repeat in capitals': [own, [own[0].toUpperCase(), own[1]]],
          alias: [[own[0].replaceAll('-', '_'), own[1]]],
          dots: [[own[0].replaceAll('-', '.'), own[1]]],
        };
        return { ...request, rawHeaders: [...others, ...(changed[how] ?? [])].flat() };
      },
    }));

function pairsOf({ rawHeaders }: SignedRequest): (readonly [string, string])[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
}

const body: fc.Arbitrary<Mutation> = fc
  .tuple(
    place,
    fc.integer({ min: 1, max: 255 }),
    fc.constantFrom('flip', 'remove', 'insert', 'cut', 'append'),
  )
  .map(([at, bits, how]) => ({
    target: 'body',
    apply: (request) => {
      const bytes = Buffer.from(request.body);
      const index = bytes.length === 0 ? 0 : at % bytes.length;
      const [head, rest] = [bytes.subarray(0, index), bytes.subarray(index)];
      const byte = Buffer.of((rest[0] ?? 0) ^ bits);
      const changed: Record<string, Buffer[]> = {
        flip: [head, byte, rest.subarray(1)],
        remove: [head, rest.subarray(1)],
        insert: [head, byte, rest],
        cut: [head],
        append: [bytes, byte],
      };
      return { ...request, body: Buffer.concat(changed[how] ?? []) };
    },
  }));

const requestLine: fc.Arbitrary<Mutation> = fc.oneof(
  otherPath.map((change) => ({
    target: 'path',
    apply: (request: SignedRequest) => ({ ...request, target: change(request.target ?? '') }),
  })),
  fc.constantFrom('GET', 'PUT', 'PATCH', 'post', 'Post', 'POST ', '').map((method) => ({
    target: 'method',
    apply: (request: SignedRequest) => ({ ...request, method }),
  })),
);

const framing: fc.Arbitrary<Mutation> = fc
  .constantFrom<[string, string]>(
    ['content-encoding', 'gzip'],
    ['Content-Encoding', 'identity, gzip'],
    ['content-encoding', ''],
    ['Content-Type', 'application/json'],
    ['content-type', 'text/plain'],
  )
  .map((pair) => ({
    target: `another ${pair[0].toLowerCase()}`,
    apply: (request) => ({ ...request, rawHeaders: [...request.rawHeaders, ...pair] }),
  }));

const swap = (a: string, b: string): fc.Arbitrary<Mutation> =>
  fc.constant({
    target: 'signatures swapped',
    apply: (request) => {
      const values = new Map(pairsOf(request));
      const moved = mapHeader(request, a, () => values.get(b) ?? '');
      return mapHeader(moved, b, () => values.get(a) ?? '');
    },
  });

const common = [
  body,
  requestLine,
  framing,
  header(USER, edit),
  header(TIMESTAMP, fc.oneof(edit, oddNumber, otherTime)),
];

/** Mutations of a version 2 proof. The version 1 signature beside it is not verified, so only its form is changed. */
export const mutationsV2: fc.Arbitrary<Mutation> = fc.oneof(
  ...common,
  presence([SIGNATURE, TIMESTAMP, USER, SIGNATURE_V2, NONCE]),
  header(SIGNATURE_V2, fc.oneof(edit, misspelling, lowerCase)),
  header(SIGNATURE, misspelling),
  header(NONCE, edit),
  swap(SIGNATURE, SIGNATURE_V2),
);

/** Mutations of a version 1 proof, which does not cover the request line. */
export const mutationsV1: fc.Arbitrary<Mutation> = fc.oneof(
  body,
  framing,
  header(USER, edit),
  header(TIMESTAMP, fc.oneof(edit, oddNumber, otherTime)),
  presence([SIGNATURE, TIMESTAMP, USER]),
  header(SIGNATURE, fc.oneof(edit, misspelling, lowerCase)),
);
