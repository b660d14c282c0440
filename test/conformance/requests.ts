import {
  CLAIM,
  type Claim,
  type Header,
  INTERN_KEY,
  jwk,
  namedKey,
  namedNonce,
  proofHeaders,
  TIMESTAMP,
} from '../vectors/generator/proof.ts';
import type { Command, Configuration, RequestCommand } from './protocol.ts';
import { createRandom, type Random } from './random.ts';

const STEPS = 20;
const KEYS = [INTERN_KEY, namedKey('rotated a'), namedKey('rotated b'), namedKey('mallory')];
const NONCES = Array.from({ length: 8 }, (_, index) => namedNonce(`drawn ${index}`));
const USERS = ['user_2abc', 'User_2abc', 'user_3def', 'a', 'u'.repeat(255)];
const BODIES = ['{"prompt":"hello"}', '{"prompt":"hellp"}', '', '\xff\0', 'x'.repeat(300)].map((text) =>
  Buffer.from(text, 'latin1'),
);
const PATHS = ['/api/invoke', '/', '/api/%2f', '/api/%2F', '//api/../invoke', `/${'a'.repeat(2047)}`];
const PIECES = [
  ' ',
  '\t',
  '\n',
  '\r',
  '\0',
  ',',
  ';',
  '=',
  '+',
  '-',
  '_',
  '/',
  '?',
  '#',
  'A',
  '0',
  '\x7f',
  '\xa0',
  '\xe9',
  '%',
  '"',
];
const MEDIA_TYPES = [
  'application/json',
  'Application/JSON ; charset="UTF-8"',
  'application/json; charset=utf-16',
  'application/json; boundary=x',
  'application/json, text/html',
  'text/plain',
];
const CODINGS = ['identity', ' Identity\t', 'gzip', 'identity, gzip', ''];
const METHODS = ['POST', 'post', 'GET', 'PUT', 'POST '];
const JSON_VALUES = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1,
  '',
  'sig',
  'verify',
  [],
  ['verify'],
  ['sign', 'verify'],
  {},
  TIMESTAMP,
];
const MEMBERS = ['kty', 'crv', 'use', 'alg', 'key_ops', 'kid', 'x', 'nbf', 'exp', 'd', 'KTY'];

// Eighths of a second, which floating-point arithmetic represents exactly.
const ELAPSED = [0, 0, 0, 0.125, 0.5, 1, 2, 29, 30, 31, 60];
/** A clock that is set, forth and back. */
const CLOCK_STEPS = [-0.5, -1, -5, -30, -95, 95, 300, -300, -1000];

/** One store, its verifiers and `STEPS` commands, generated from the seed. */
export function drawScenario(seed: string, features: readonly string[]): Command[] {
  const random = createRandom(seed);
  let verifier = drawConfiguration(random);
  const offset = features.includes('store-clock') ? random.of([0, 0, 0, 1.5, -1.5, 3, -3]) : 0;
  let now = TIMESTAMP + random.whole(80) / 8;
  const at = (): { now: number; storeNow?: number } =>
    offset === 0 ? { now } : { now, storeNow: now + offset };
  const commands: Command[] = [
    {
      do: 'start',
      verifier,
      storeSince: TIMESTAMP - random.of([1000, 1000, 1000, 3, 0, -10]),
      jwks: drawKeySet(random),
    },
  ];
  const open: { request: string; bodyBase64: string }[] = [];
  for (let index = 0; index < STEPS; index++) {
    now += random.of(random.once(8) ? CLOCK_STEPS : ELAPSED);
    const kind = random.whole(24);
    if (kind === 0) commands.push({ do: 'restart', ...at() });
    else if (kind === 1) commands.push({ do: 'keys', jwks: drawKeySet(random) });
    else if (kind === 5 && random.once(2)) {
      verifier = drawConfiguration(random);
      commands.push({ do: 'verifier', verifier });
    } else if (kind < 5) {
      const { bodyBase64, ...head } = drawRequest(random, verifier, now);
      const request = `r${index}`;
      commands.push({ do: 'begin', request, ...at(), ...head });
      open.push({ request, bodyBase64 });
    } else commands.push({ do: 'present', ...at(), ...drawOrRepeat(random, verifier, now, commands) });
  }
  for (const { request, bodyBase64 } of open) commands.push({ do: 'finish', request, ...at(), bodyBase64 });
  return commands;
}

/** A new request, or an earlier one, possibly without its version 2 headers. */
function drawOrRepeat(
  random: Random,
  verifier: Configuration,
  now: number,
  commands: readonly Command[],
): RequestCommand {
  const presented = commands.filter((command) => command.do === 'present');
  if (presented.length === 0 || !random.once(3)) return drawRequest(random, verifier, now);
  const { method, target, rawHeaders, bodyBase64 } = random.of(presented);
  const isDropped = (index: number): boolean => /v2|nonce/.test(rawHeaders[index - (index % 2)] ?? '');
  const strips = random.once(4);
  return {
    method,
    target,
    rawHeaders: rawHeaders.filter((_, index) => !(strips && isDropped(index))),
    bodyBase64,
  };
}

function drawConfiguration(random: Random): Configuration {
  return {
    internId: CLAIM.internId,
    maxAgeSeconds: random.of([60, 60, 60, 1, 600]),
    clockToleranceSeconds: random.of([2, 2, 2, 0, 5, 60]),
    acceptV1: random.once(2),
    contentType: random.once(10) ? 'text/vnd.k' : 'application/json',
  };
}

function drawKeySet(random: Random): unknown {
  if (random.once(30)) return random.of<unknown>([null, [], {}, { keys: {} }, { keys: [1] }, { keys: 'x' }]);
  const keys: unknown[] = [];
  for (let index = random.whole(4); index >= 0; index--) {
    const interval = random.once(3) ? drawInterval(random) : {};
    const key: Record<string, unknown> = jwk(random.of(KEYS.slice(0, 3)).publicKey, interval);
    if (random.once(3)) key[random.of(MEMBERS)] = random.of(JSON_VALUES);
    if (random.once(20)) delete key[random.of(MEMBERS)];
    if (random.once(20)) key['x'] = insert(random, String(key['x']));
    keys.push(key);
  }
  if (random.once(2)) keys.push(jwk(INTERN_KEY.publicKey));
  return { keys };
}

function drawInterval(random: Random): { nbf?: number; exp?: number } {
  const near = (): number => TIMESTAMP + random.whole(120) - 40 + (random.once(4) ? 0.5 : 0);
  return { ...(random.once(2) ? { nbf: near() } : {}), ...(random.once(2) ? { exp: near() } : {}) };
}

function drawRequest(
  random: Random,
  { contentType = 'application/json' }: Configuration,
  now: number,
): RequestCommand {
  const claim: Claim = {
    ...CLAIM,
    version: random.once(3) ? 1 : 2,
    timestamp: String(Math.floor(now) - random.of([0, 0, 0, 0, 1, -1, -2, -3, 59, 60, 61, 2, 3])),
    nonce: random.of(NONCES),
    user: random.of(USERS.slice(0, random.once(4) ? 5 : 2)),
    body: random.of(BODIES.slice(0, random.once(4) ? 5 : 2)),
    path: random.of(PATHS.slice(0, random.once(4) ? 6 : 1)),
    key: random.once(12) ? random.of(KEYS) : INTERN_KEY,
    internId: random.once(30) ? 'int_7qm2' : CLAIM.internId,
  };
  let headers: Header[] = [['Content-Type', contentType], ...proofHeaders(claim)];
  let { method, path: target, body } = claim;
  for (let changes = random.once(2) ? 0 : 1 + random.whole(3); changes > 0; changes--) {
    switch (random.whole(8)) {
      case 0:
        if (random.once(2)) method = random.of(METHODS);
        break;
      case 1:
        target = random.once(2) ? random.of(PATHS) : insert(random, target);
        break;
      case 2:
        body = random.of(BODIES);
        break;
      case 3:
        headers = [...headers, ['content-encoding', random.of(CODINGS)]];
        break;
      case 4:
        headers = headers.map(([name, value]) => [
          name,
          name === 'Content-Type' ? random.of(MEDIA_TYPES) : value,
        ]);
        break;
      default:
        headers = changeHeaders(random, headers);
    }
  }
  return { method, target, rawHeaders: headers.flat(), bodyBase64: body.toString('base64') };
}

function changeHeaders(random: Random, headers: readonly Header[]): Header[] {
  const changed = [...headers];
  const index = random.whole(changed.length);
  const [name, value] = changed[index] ?? ['x', ''];
  switch (random.whole(8)) {
    case 0:
      changed.splice(index, 1);
      break;
    case 1:
      changed.splice(random.whole(changed.length + 1), 0, [name, value]);
      break;
    case 2:
      changed[index] = [
        random.of([name.toUpperCase(), name.replaceAll('-', '_'), `${name} `, name.slice(1)]),
        value,
      ];
      break;
    case 3:
      changed[index] = [name, value.slice(0, -1)];
      break;
    case 4:
      changed[index] = [name, random.of(headers)[1]];
      break;
    case 5:
      changed.splice(0, changed.length, ...changed.filter(([each]) => !/v2|nonce/.test(each)));
      break;
    default:
      changed[index] = [name, insert(random, value)];
  }
  return changed;
}

/** Inserts or replaces a character, most often at the ends. */
function insert(random: Random, text: string): string {
  const at = random.of([0, text.length, random.whole(text.length + 1)]);
  return text.slice(0, at) + random.of(PIECES) + text.slice(at + random.whole(2));
}
