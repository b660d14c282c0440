import fc from 'fast-check';
import { type ValidRequest, validRequest, validRequestWithRoute } from './valid-request.ts';

/** A body that the contract does not allow, and the valid one from which it was made. */
export interface MalformedBody {
  readonly kind: string;
  readonly twin: ValidRequest;
  readonly body: string | Uint8Array;
}

const notString = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300),
  fc.constantFrom<unknown>([], {}, ['POST'], [['x']], { toString: 'x' }),
);
const anyValue = fc.jsonValue({ maxDepth: 2 });
const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 4 });

/** Replaces members of the valid request. The caller filters out the valid value itself. */
function replaced(
  kind: string,
  change: (twin: Required<ValidRequest>) => fc.Arbitrary<unknown>,
): fc.Arbitrary<MalformedBody> {
  return validRequestWithRoute.chain((twin) =>
    change(twin).map((value) => ({ kind, twin, body: JSON.stringify(value) })),
  );
}

/** Reserializes the valid request. */
function rewritten(
  kind: string,
  rewrite: (text: string, twin: ValidRequest) => fc.Arbitrary<string | Uint8Array>,
): fc.Arbitrary<MalformedBody> {
  return validRequest.chain((twin) =>
    rewrite(JSON.stringify(twin), twin).map((body) => ({ kind, twin, body })),
  );
}

const wrongHex = (hex: string) =>
  fc.oneof(
    fc.integer({ min: 0, max: 63 }).map((length) => hex.slice(0, length)),
    fc.string({ minLength: 1, maxLength: 70 }).map((more) => hex + more),
    fc.constantFrom(` ${hex}`, `${hex}\n`, `0x${hex.slice(2)}`, `${hex}${hex}`),
    placed(hex, fc.constantFrom(...'ABCDEFgGzZ-_ \u0000\u0660\uff10\ud800é')),
  );

const wrongPath = (path: string) =>
  fc.oneof(
    fc.constantFrom('', path.slice(1).replace(/^\/+/, ''), ` ${path}`, `http://x${path}`, `*${path}`),
    placed(path, fc.constantFrom(...' #?\u007f\t\r\n\u0000\u0080é\u2028\ud83d\uff0f')),
    fc.integer({ min: 2049, max: 5000 }).map((length) => '/'.padEnd(length, 'a')),
  );

const wrongMethod = fc.oneof(
  fc.constantFrom('post', 'Post', 'POST ', ' POST', 'GET', 'PUT', '', 'PATCH', 'POS\u0422', 'POST\u0000'),
  fc.string({ maxLength: 8 }).filter((method) => method !== 'POST'),
);

/** Replaces one character of the text. */
function placed(text: string, character: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat({ max: Math.max(0, text.length - 1) }), character)
    .map(([at, one]) => text.slice(0, at) + one + text.slice(at + 1));
}

const strangeKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'BodySha256', 'bodySha256 ', 'bodysha256', 'Route'),
  fc.string({ maxLength: 12 }),
);

/** Never a member name of the valid request. */
const foreignKey = strangeKey.filter((key) => !['bodySha256', 'route', 'method', 'path'].includes(key));

function withMember(value: object, key: string, member: unknown): string {
  const text = JSON.stringify(value);
  return `${text.slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(member)}}`;
}

const types = replaced('type', (twin) =>
  fc.oneof(
    notString.map((bodySha256) => ({ ...twin, bodySha256 })),
    notString.map((method) => ({ ...twin, route: { ...twin.route, method } })),
    notString.map((path) => ({ ...twin, route: { ...twin.route, path } })),
    fc
      .oneof(fc.constantFrom<unknown>(null, true, 1, 'POST', [], {}, ['POST', '/']), anyValue)
      .filter((route) => route === null || typeof route !== 'object' || !('path' in route))
      .map((route) => ({ ...twin, route })),
  ),
);
const hex = replaced('hex', (twin) =>
  wrongHex(twin.bodySha256)
    .filter((bodySha256) => !/^[0-9a-f]{64}$/.test(bodySha256))
    .map((bodySha256) => ({ ...twin, bodySha256 })),
);
const path = replaced('path', (twin) =>
  wrongPath(twin.route.path)
    .filter((one) => !/^\/[\x21\x22\x24-\x3e\x40-\x7e]{0,2047}$/.test(one))
    .map((one) => ({ ...twin, route: { ...twin.route, path: one } })),
);
const method = replaced('method member', (twin) =>
  wrongMethod.map((one) => ({ ...twin, route: { ...twin.route, method: one } })),
);
const missing = replaced('missing', ({ bodySha256, route }) =>
  fc.constantFrom<unknown>(
    {},
    { route },
    { bodySha256, route: {} },
    { bodySha256, route: { method: route.method } },
    { bodySha256, route: { path: route.path } },
  ),
);
const unknown = validRequestWithRoute.chain((twin) =>
  fc.tuple(foreignKey, anyValue, fc.boolean()).map(([key, member, inside]) => ({
    kind: 'unknown key',
    twin,
    body: inside
      ? `{"bodySha256":"${twin.bodySha256}","route":${withMember(twin.route, key, member)}}`
      : withMember(twin, key, member),
  })),
);
const doubled = validRequestWithRoute.chain((twin) =>
  fc.constantFrom('bodySha256', 'route', 'method', 'path', 'escaped', 'different').map((key) => {
    const { bodySha256, route } = twin;
    const bodies: Record<string, string> = {
      bodySha256: withMember(twin, 'bodySha256', bodySha256),
      route: withMember(twin, 'route', route),
      method: `{"bodySha256":"${bodySha256}","route":${withMember(route, 'method', 'POST')}}`,
      path: `{"bodySha256":"${bodySha256}","route":${withMember(route, 'path', route.path)}}`,
      escaped: `{"bodySha25\\u0036":"${bodySha256}",${JSON.stringify(twin).slice(1)}`,
      different: `{"bodySha256":"${'0'.repeat(64)}",${JSON.stringify(twin).slice(1)}`,
    };
    return { kind: 'doubled key', twin, body: bodies[key] ?? '' };
  }),
);
const syntax = rewritten('syntax', (text, { bodySha256 }) =>
  fc.oneof(
    fc.nat({ max: text.length - 1 }).map((end) => text.slice(0, end)),
    fc
      .tuple(blank, fc.constantFrom('x', '{}', ',', '0', 'null', '\u0000', '\u00a0', ']', text))
      .map(([between, more]) => text + between + more),
    fc.constantFrom(
      text.replaceAll('"', "'"),
      text.replace(/}$/, ',}'),
      text.replace('{', '{,'),
      text.replace(':', '='),
      text.replace('{', '{/* */'),
      `// \n${text}`,
      text.replace('"bodySha256"', 'bodySha256'),
      text.replace(bodySha256, `${bodySha256.slice(1)}\n`),
      text.replace(bodySha256, `\\x61${bodySha256.slice(1)}`),
      `(${text})`,
      `[${text}]`,
      `${text}${text}`,
      JSON.stringify(text),
      `\u00a0${text}`,
      `\ufeff${text}`,
    ),
  ),
);
const encoding = rewritten('encoding', (text) => {
  const bytes = Buffer.from(text);
  const bad = fc.constantFrom(
    [0xff],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0x80],
    [0xe2],
  );
  return fc.oneof(
    fc
      .tuple(fc.nat({ max: bytes.length }), bad)
      .map(([at, more]) => Buffer.concat([bytes.subarray(0, at), Buffer.from(more), bytes.subarray(at)])),
    fc.constantFrom(Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()),
    fc.uint8Array({ minLength: 1, maxLength: 200 }).map((noise) => Buffer.concat([Buffer.of(0x80), noise])),
  );
});
const value = rewritten('other JSON', () =>
  fc.oneof(
    anyValue.filter((one) => typeof one !== 'object' || one === null || !('bodySha256' in one)).map(jsonText),
    fc.constantFrom('null', '[]', '{}', '""', '0', '-0', '1e999', 'true', '{"bodySha256":{}}'),
    blank,
  ),
);
const shape = rewritten('depth and size', (text) =>
  fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.nat({ max: 3 })).map(([size, form]) => {
    const member = [
      `${'['.repeat(size)}${']'.repeat(size)}`,
      `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`,
      `[${'0,'.repeat(size)}0]`,
      `"${'a'.repeat(size)}"`,
    ][form];
    return `${text.slice(0, -1)},"more":${member}}`;
  }),
);

function jsonText(one: unknown): string {
  return JSON.stringify(one);
}

/** Every kind of malformed body. All except the last have the content type of their valid twin. */
export const malformedBody: fc.Arbitrary<MalformedBody> = fc.oneof(
  { weight: 3, arbitrary: types },
  { weight: 3, arbitrary: hex },
  { weight: 3, arbitrary: path },
  { weight: 1, arbitrary: method },
  { weight: 1, arbitrary: missing },
  { weight: 3, arbitrary: unknown },
  { weight: 2, arbitrary: doubled },
  { weight: 4, arbitrary: syntax },
  { weight: 2, arbitrary: encoding },
  { weight: 2, arbitrary: value },
  { weight: 1, arbitrary: shape },
);
