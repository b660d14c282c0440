import { setMaxListeners } from 'node:events';
import { ADAPTERS, type GuardedDaemon, PATH, type Sent } from '@ori/test-env/verifier/guarded-daemons';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import { expect, test } from 'vitest';

/** For each of the ten daemons; TEST_GENERATED_REQUESTS=100000 takes some minutes for each. */
const REQUESTS = Number(process.env['TEST_GENERATED_REQUESTS'] ?? 1000);
const AT_ONCE = 32;
const signer = createTestSigner({ internId: 'int_1' });
const stranger = createTestSigner({ internId: 'int_1' });

/** A small generator with a seed, so that a failure can be had again (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below) | 0;
  };
}

type Header = [string, string];

/** A request that must reach no handler. `replayed` was accepted before. */
function generate(random: (below: number) => number, replayed: Sent): Sent {
  const body = JSON.stringify({ prompt: 'x'.repeat(random(200)) });
  const by = random(4) === 0 ? stranger : signer;
  const headers: Header[] = [
    ['content-type', 'application/json'],
    ...(Object.entries(by.sign({ path: PATH, body })) as Header[]),
  ];
  const good: Sent = { headers, body };
  const at = 1 + random(headers.length - 1);
  const changed = (value: (old: string) => string): Header[] =>
    headers.map(([name, old], index) => [name, index === at ? value(old) : old]);
  switch (random(12)) {
    case 0:
      return replayed;
    case 1:
      return { headers: [['content-type', 'application/json']], body };
    case 2:
      return { ...good, headers: headers.filter((_, index) => index !== at) };
    case 3:
      return { ...good, headers: [...headers, headers[at] as Header] };
    case 4:
      return {
        ...good,
        headers: changed((old) => `${old.slice(0, -3)}${old.slice(-3) === 'AAA' ? 'BBB' : 'AAA'}`),
      };
    case 5:
      return { ...good, headers: changed((old) => old.slice(0, random(old.length))) };
    case 6:
      return { ...good, body: `${body.slice(0, -2)} ${body.slice(-2)}` };
    case 7:
      return { ...good, body: 'y'.repeat(1001 + random(2000)) };
    case 8:
      return { ...good, target: `${PATH}?a=${random(10)}` };
    case 9:
      return { ...good, headers: [...headers.slice(1), ['content-type', 'text/plain']] };
    case 10:
      return { ...good, headers: [...headers, ['content-encoding', 'gzip']] };
    default:
      return { ...good, cutAfter: random(body.length) };
  }
}

async function sendAll(daemon: GuardedDaemon, name: string, replayed: Sent): Promise<Map<string, number>> {
  const random = createRandom([...name].reduce((sum, character) => sum + character.charCodeAt(0), 0));
  const answers = new Map<string, number>();
  let left = REQUESTS;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { status } = await daemon.send(generate(random, replayed));
      answers.set(`${status}`, (answers.get(`${status}`) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return answers;
}

const daemons = ADAPTERS.flatMap(({ name, start, startBehindParser }) => [
  { name, start, isBehindParser: false },
  ...(startBehindParser
    ? [{ name: `${name}, behind a body parser`, start: startBehindParser, isBehindParser: true }]
    : []),
]);

test.each(daemons)(
  '$name: no generated request reaches the handler without a proof',
  { timeout: 3_600_000 },
  async ({ name, start, isBehindParser }) => {
    setMaxListeners(0);
    const ran = { accepted: 0, without: 0 };
    const verifier = createVerifier({
      internId: 'int_1',
      keys: createLocalKeySet(signer.jwks),
      replay: createTestReplayStore(),
    });
    const daemon = await start(verifier, (proof) => {
      if (proof === undefined) ran.without += 1;
      else ran.accepted += 1;
    });
    try {
      const body = '{"prompt":"hello"}';
      const replayed: Sent = {
        headers: [
          ['content-type', 'application/json'],
          ...(Object.entries(signer.sign({ path: PATH, body })) as Header[]),
        ],
        body,
      };
      const first = await daemon.send(replayed);
      expect(first.status).toBe(isBehindParser ? 500 : 200);
      const answers = await sendAll(daemon, name, replayed);
      console.log(name, REQUESTS, Object.fromEntries(answers), ran);
      expect(ran).toEqual({ accepted: isBehindParser ? 0 : 1, without: 0 });
      expect([...answers.keys()]).not.toContain('200');
    } finally {
      await daemon.stop();
    }
  },
);
