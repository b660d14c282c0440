import { setMaxListeners } from 'node:events';
import {
  ADAPTERS,
  type GuardedDaemon,
  type Heard,
  PATH,
  type Sent,
} from '@ori/test-env/verifier/guarded-daemons';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import { expect, test } from 'vitest';
import { createRandom } from '../exactly-once/random.ts';

/** Per daemon, of which there are ten. TEST_GENERATED_REQUESTS=100000 takes two to six minutes each. */
const REQUESTS = Number(process.env['TEST_GENERATED_REQUESTS'] ?? 1000);
const AT_ONCE = 32;
/** The replayed proof is replaced after this many requests: an expired one would no longer test the replay store. */
const REPLAYS_OF_ONE = 5000;
const signer = createTestSigner({ internId: 'int_1' });
const stranger = createTestSigner({ internId: 'int_1' });

type Header = [string, string];

function sign(by: typeof signer, body: string): { headers: Header[]; body: string } {
  const proof = Object.entries(by.sign({ path: PATH, body })) as Header[];
  return { headers: [['content-type', 'application/json'], ...proof], body };
}

/** A request that must reach no handler. `replayed` was accepted before. */
function generate(random: (below: number) => number, replayed: Sent): Sent {
  const body = JSON.stringify({ prompt: 'x'.repeat(random(200)) });
  const good = sign(random(4) === 0 ? stranger : signer, body);
  const { headers } = good;
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

/** Sends them all, with an occasional valid request, and counts the answers. */
async function sendAll(daemon: GuardedDaemon, name: string): Promise<Map<string, number>> {
  const { below: random } = createRandom(name);
  const answers = new Map<string, number>();
  let replayed: Sent | undefined;
  let left = REQUESTS;
  const count = ({ status, code }: Heard): void => {
    const answer = status === undefined ? 'cut' : `${status} ${code}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  };
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      count(await daemon.send(generate(random, replayed as Sent)));
    }
  };
  for (let batch = 0; batch * REPLAYS_OF_ONE < REQUESTS; batch += 1) {
    left = Math.min(REPLAYS_OF_ONE, REQUESTS - batch * REPLAYS_OF_ONE);
    replayed = sign(signer, '{"prompt":"hello"}');
    count(await daemon.send(replayed));
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  }
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
      const answers = await sendAll(daemon, name);
      console.log(name, REQUESTS, Object.fromEntries(answers), ran);
      const good = isBehindParser ? 0 : Math.ceil(REQUESTS / REPLAYS_OF_ONE);
      expect(ran).toEqual({ accepted: good, without: 0 });
      expect(answers.get('200 undefined') ?? 0).toBe(good);
      if (!isBehindParser) expect(answers.get('401 nonce_replayed')).toBeGreaterThan(0);
    } finally {
      await daemon.stop();
    }
  },
);
