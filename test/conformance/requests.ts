import { createRandom, type Random } from '../lab/exactly-once/random.ts';
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
} from '../vectors/proof.ts';
import type { Command, Configuration, RequestCommand } from './protocol.ts';

const STEPS = 20;
const KEYS = [INTERN_KEY, namedKey('rotated a'), namedKey('rotated b'), namedKey('mallory')];
const NONCES = Array.from({ length: 8 }, (_, index) => namedNonce(`drawn ${index}`));
const USERS = ['user_2abc', 'User_2abc', 'user_3def', 'a', 'u'.repeat(255)];
const BODIES = ['{"prompt":"hello"}', '{"prompt":"hellp"}', '', '\xff\0', 'x'.repeat(300)].map((text) =>
  Buffer.from(text, 'latin1'),
);
const PATHS = ['/api/invoke', '/', '/api/%2f', '/api/%2F', '//api/../invoke', `/${'a'.repeat(2047)}`];
/** Characters. */
const PIECES = [...' \t\n\r\0,;=+-_/?#A0\x7f\xa0\xe9%"'];
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
  const offset = features.includes('store-clock') ? random.pick([0, 0, 0, 1.5, -1.5, 3, -3]) : 0;
  let now = TIMESTAMP + random.below(80) / 8;
  const at = (): { now: number; storeNow?: number } =>
    offset === 0 ? { now } : { now, storeNow: now + offset };
  const commands: Command[] = [
    {
      do: 'start',
      verifier,
      storeSince: TIMESTAMP - random.pick([1000, 1000, 1000, 3, 0, -10]),
      jwks: drawKeySet(random),
    },
  ];
  const open: { request: string; bodyBase64: string }[] = [];
  for (let index = 0; index < STEPS; index++) {
    now += random.pick(random.chance(1 / 8) ? CLOCK_STEPS : ELAPSED);
    const kind = random.below(24);
    if (kind === 0) commands.push({ do: 'restart', ...at() });
    else if (kind === 1) commands.push({ do: 'keys', jwks: drawKeySet(random) });
    else if (kind === 5 && random.chance(1 / 2)) {
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
  if (presented.length === 0 || !random.chance(1 / 3)) return drawRequest(random, verifier, now);
  const { method, target, rawHeaders, bodyBase64 } = random.pick(presented);
  const isDropped = (index: number): boolean => /v2|nonce/.test(rawHeaders[index - (index % 2)] ?? '');
  const strips = random.chance(1 / 4);
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
    maxAgeSeconds: random.pick([60, 60, 60, 1, 600]),
    clockToleranceSeconds: random.pick([2, 2, 2, 0, 5, 60]),
    acceptV1: random.chance(1 / 2),
    contentType: random.chance(1 / 10) ? 'text/vnd.k' : 'application/json',
  };
}

function drawKeySet(random: Random): unknown {
  if (random.chance(1 / 30))
    return random.pick<unknown>([null, [], {}, { keys: {} }, { keys: [1] }, { keys: 'x' }]);
  const keys: unknown[] = [];
  for (let index = random.below(4); index >= 0; index--) {
    const interval = random.chance(1 / 3) ? drawInterval(random) : {};
    const key: Record<string, unknown> = jwk(random.pick(KEYS.slice(0, 3)).publicKey, interval);
    if (random.chance(1 / 3)) key[random.pick(MEMBERS)] = random.pick(JSON_VALUES);
    if (random.chance(1 / 20)) delete key[random.pick(MEMBERS)];
    if (random.chance(1 / 20)) key['x'] = insert(random, String(key['x']));
    keys.push(key);
  }
  if (random.chance(1 / 2)) keys.push(jwk(INTERN_KEY.publicKey));
  return { keys };
}

function drawInterval(random: Random): { nbf?: number; exp?: number } {
  const near = (): number => TIMESTAMP + random.below(120) - 40 + (random.chance(1 / 4) ? 0.5 : 0);
  return {
    ...(random.chance(1 / 2) ? { nbf: near() } : {}),
    ...(random.chance(1 / 2) ? { exp: near() } : {}),
  };
}

function drawRequest(
  random: Random,
  { contentType = 'application/json' }: Configuration,
  now: number,
): RequestCommand {
  const claim: Claim = {
    ...CLAIM,
    version: random.chance(1 / 3) ? 1 : 2,
    timestamp: String(Math.floor(now) - random.pick([0, 0, 0, 0, 1, -1, -2, -3, 59, 60, 61, 2, 3])),
    nonce: random.pick(NONCES),
    user: random.pick(USERS.slice(0, random.chance(1 / 4) ? 5 : 2)),
    body: random.pick(BODIES.slice(0, random.chance(1 / 4) ? 5 : 2)),
    path: random.pick(PATHS.slice(0, random.chance(1 / 4) ? 6 : 1)),
    key: random.chance(1 / 12) ? random.pick(KEYS) : INTERN_KEY,
    internId: random.chance(1 / 30) ? 'int_7qm2' : CLAIM.internId,
  };
  let headers: Header[] = [['Content-Type', contentType], ...proofHeaders(claim)];
  let { method, path: target, body } = claim;
  for (let changes = random.chance(1 / 2) ? 0 : 1 + random.below(3); changes > 0; changes--) {
    switch (random.below(8)) {
      case 0:
        if (random.chance(1 / 2)) method = random.pick(METHODS);
        break;
      case 1:
        target = random.chance(1 / 2) ? random.pick(PATHS) : insert(random, target);
        break;
      case 2:
        body = random.pick(BODIES);
        break;
      case 3:
        headers = [...headers, ['content-encoding', random.pick(CODINGS)]];
        break;
      case 4:
        headers = headers.map(([name, value]) => [
          name,
          name === 'Content-Type' ? random.pick(MEDIA_TYPES) : value,
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
  const index = random.below(changed.length);
  const [name, value] = changed[index] ?? ['x', ''];
  switch (random.below(8)) {
    case 0:
      changed.splice(index, 1);
      break;
    case 1:
      changed.splice(random.below(changed.length + 1), 0, [name, value]);
      break;
    case 2:
      changed[index] = [
        random.pick([name.toUpperCase(), name.replaceAll('-', '_'), `${name} `, name.slice(1)]),
        value,
      ];
      break;
    case 3:
      changed[index] = [name, value.slice(0, -1)];
      break;
    case 4:
      changed[index] = [name, random.pick(headers)[1]];
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
  const at = random.pick([0, text.length, random.below(text.length + 1)]);
  return text.slice(0, at) + random.pick(PIECES) + text.slice(at + random.below(2));
}
