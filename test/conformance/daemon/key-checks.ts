import { setTimeout as pause } from 'node:timers/promises';
import { INTERN_KEY, jwk, namedKey, type TestKey } from '../../vectors/proof.ts';
import { type Bench, codeOf, GOOD, setOf, textOf } from './bench.ts';
import { accepted } from './checks.ts';
import type { KeyAnswer } from './key-server.ts';

/**
 * What a daemon must do with a key set. Each needs a daemon that has not fetched one before, or that fetches again: one that runs
 * already gets them in this order, those first after which it must still have no set.
 */
export interface KeyCheck {
  readonly sentence: string;
  readonly title: string;
  readonly answer: KeyAnswer;
  run(bench: Bench): Promise<string | undefined>;
}

const NEXT_KEY = namedKey('rotated a');
/** After this a daemon may fetch again (K17), and a set that is fresh for 10 s is no longer (K16). */
const APART_MS = 11_500;
const good = String(GOOD.body);
const [own, junk] = [jwk(INTERN_KEY.publicKey), { kty: 'RSA', n: 'u1W', e: 'AQAB' }];

function unusable(sentence: string, title: string, answer: KeyAnswer): KeyCheck {
  return {
    sentence,
    title: `uses no key set ${title}`,
    answer,
    async run(bench) {
      const given = await bench.tell();
      return codeOf(given) === 'keys_unavailable'
        ? undefined
        : `expected keys_unavailable, got ${textOf(given)}`;
    },
  };
}

/** Each such set has a key of its own, so that a daemon cannot pass with the set before. */
function usable(sentence: string, title: string, answerWith: (key: TestKey) => KeyAnswer): KeyCheck {
  const key = namedKey(`of a key set ${title}`);
  const run = async (bench: Bench): Promise<string | undefined> => {
    let given = await bench.tell({ claim: { key } });
    if (codeOf(given) === 'keys_unavailable') {
      // A first fetch may time out on a busy machine.
      await pause(APART_MS);
      given = await bench.tell({ claim: { key } });
    }
    return given.status === 200 || codeOf(given) === 'proof_before_fence'
      ? undefined
      : `got ${textOf(given)}`;
  };
  return { sentence, title: `uses a key set ${title}`, answer: answerWith(key), run };
}

/** The key in use is withdrawn while the set is fresh for 10 s only. */
function withdrawn(title: string, headers: Readonly<Record<string, string | string[]>>): KeyCheck {
  return {
    sentence: 'K16',
    title: `fetches again after 10 s ${title}`,
    answer: { ...GOOD, headers },
    async run(bench) {
      await bench.ready();
      bench.daemon.keys.answer = { ...setOf(NEXT_KEY), headers };
      await pause(APART_MS);
      const given = await bench.tell();
      return given.status === 200 ? 'a key that was withdrawn 11 s ago is still used' : undefined;
    },
  };
}

export const KEY_CHECKS: readonly KeyCheck[] = [
  unusable('K15', 'behind a redirect', { ...GOOD, status: 302 }),
  unusable('K15', 'of an answer with status 404', { ...GOOD, status: 404 }),
  unusable('K15', 'of an answer with status 500', { ...GOOD, status: 500 }),
  unusable('K15', 'of an answer with status 203', { ...GOOD, status: 203 }),
  unusable('K1', 'that is a page of HTML', {
    body: '<html></html>',
    headers: { 'content-type': 'text/html' },
  }),
  unusable('K1', 'that is JSON of another shape', { body: '{"keys":{}}' }),
  unusable('K1', 'with a number that is not JSON', { body: good.replace('{', '{"a":NaN,') }),
  unusable('K1', 'that is nested 30,000 deep', { body: '['.repeat(30_000) + ']'.repeat(30_000) }),
  unusable('K1', 'of more than 100 keys', {
    body: JSON.stringify({ keys: [own, ...Array(100).fill(junk)] }),
  }),
  unusable('K19', 'of more than 64 KiB', { body: JSON.stringify({ keys: [own], more: 'x'.repeat(65_536) }) }),
  unusable('K19', 'that is not UTF-8', { body: Buffer.from(good.replace('{', '{"a":"\xff",'), 'latin1') }),
  unusable('K18', 'that does not arrive', { ...GOOD, delayMs: 30_000 }),
  unusable('K18', 'that arrives byte by byte', { ...GOOD, byteEveryMs: 500 }),
  usable('K19', 'of another media type', (key) => ({
    ...setOf(key),
    headers: { 'content-type': 'text/plain' },
  })),
  usable('K7', 'in which another key ends beyond all numbers', (key) => ({
    body: JSON.stringify({ keys: [{ ...own, exp: 0 }, jwk(key.publicKey)] }).replace(
      '"exp":0',
      '"exp":1e400',
    ),
  })),
  usable('K7', 'in which another key ends at a number of 5,000 digits', (key) => ({
    body: JSON.stringify({ keys: [{ ...own, exp: 0 }, jwk(key.publicKey)] }).replace(
      '"exp":0',
      `"exp":${'1'.repeat(5000)}`,
    ),
  })),
  usable('K9', 'with keys of other kinds', (key) => ({
    body: JSON.stringify({ keys: [junk, {}, jwk(key.publicKey)] }),
  })),
  withdrawn('by max-age', { 'cache-control': 'max-age=10' }),
  withdrawn('by a quoted max-age in a second line', { 'cache-control': ['public', 'max-age="10"'] }),
  withdrawn('by max-age and Age', { 'cache-control': 'public, max-age=60', age: '55' }),
  withdrawn('where the set must not be stored', { 'cache-control': 'no-store' }),
  {
    sentence: 'K20',
    title: 'keeps a set that was not modified',
    answer: { ...GOOD, etag: '"1"', headers: { 'cache-control': 'max-age=10' } },
    async run(bench) {
      await bench.ready();
      await pause(APART_MS);
      return accepted(await bench.tell());
    },
  },
  {
    sentence: 'K17',
    title: 'accepts calls under a key that it knows while it waits for one that it does not know',
    answer: { ...GOOD, headers: { 'cache-control': 'max-age=60' } },
    async run(bench) {
      await bench.ready();
      bench.daemon.keys.answer = { ...GOOD, delayMs: 30_000 };
      await pause(APART_MS);
      const before = bench.daemon.keys.fetches;
      let isOver = false;
      const unknown = bench.tell({ claim: { key: namedKey('mallory') } }).finally(() => {
        isOver = true;
      });
      while (bench.daemon.keys.fetches === before && !isOver) await pause(10);
      const given = await bench.tell();
      const waited = isOver;
      await unknown;
      return waited ? 'it waited, too' : accepted(given);
    },
  },
  {
    sentence: 'K17',
    title: 'fetches again for a key that it does not know, at most once per 10 s',
    answer: { ...GOOD, headers: { 'cache-control': 'max-age=60' } },
    async run(bench) {
      await bench.ready();
      bench.daemon.keys.answer = setOf(INTERN_KEY, NEXT_KEY);
      const startMs = performance.now();
      const before = bench.daemon.keys.fetches;
      const unknown = { claim: { key: namedKey('mallory') } };
      for (let count = 0; count < 40; count++) await bench.tell(unknown);
      const limit = 1 + Math.floor((performance.now() - startMs) / 10_000);
      const fetches = bench.daemon.keys.fetches - before;
      if (fetches > limit) return `${fetches} fetches for 40 proofs`;
      await pause(APART_MS);
      return accepted(await bench.tell({ claim: { key: NEXT_KEY } }));
    },
  },
];
