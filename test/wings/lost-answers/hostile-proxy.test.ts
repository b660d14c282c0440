import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { inLanes } from '@ori/test-env/in-lanes';
import { keepAnswers } from '@ori/verifier/answers';
import { expect, it } from 'vitest';
import { runOri } from '../../e2e/cli-in-process.ts';
import { guarded, INTERN_ID, listen, openSignedInWorld } from '../../e2e/cli-world.ts';
import { createRandom, type Random } from '../../lab/exactly-once/random.ts';

const CALLS = Number(process.env['CALLS'] ?? 100);
const SEED = process.env['SEED'] ?? 'hostile proxy';
const LANES = 4;
const PATH = '/api/pay';
const { world, home } = await openSignedInWorld();

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What the proxy does to a request, of those that have no key and forge nothing. */
type Deed =
  | 'pass'
  | 'repeat'
  | 'cut'
  | 'cut answer'
  | 'drop'
  | 'page'
  | 'page unsent'
  | 'half'
  | 'half and more';
const TO_CALLS: readonly Deed[] = [
  'pass',
  'repeat',
  'cut',
  'cut answer',
  'drop',
  'page',
  'page unsent',
  'half',
  'half and more',
];
const TO_QUESTIONS: readonly Deed[] = [
  'pass',
  'pass',
  'pass',
  'pass',
  'repeat',
  'cut',
  'drop',
  'page unsent',
];
const PAGES = [500, 502, 503, 504, 530, 598, 408, 499];

it(`of ${CALLS} calls through a proxy that repeats, cuts, answers for itself and ends cleanly, none is made twice, half an answer, or told to be tried again`, {
  timeout: 3_600_000,
}, async () => {
  const ran = new Map<number, number>();
  const answerTo = (n: number) => JSON.stringify({ paid: n, receipt: 'x'.repeat(n % 400) });
  await using daemon = await guarded(
    world,
    (_req, res, { body }) => {
      const { n } = JSON.parse(String(body));
      ran.set(n, (ran.get(n) ?? 0) + 1);
      const text = answerTo(n);
      res.setHeader('content-type', 'application/json');
      if (n % 2 === 0) return res.end(text);
      res.write(text.slice(0, 5));
      res.end(text.slice(5));
    },
    { answers: keepAnswers() },
  );
  const random = createRandom(SEED);
  const deeds = new Map<string, number>();
  await using hop = await listen(async (req, res) => {
    const { method = '', url = '', headers } = req;
    const body = await buffer(req);
    const isQuestion = url !== PATH;
    const mine: Random = random.derive(random.below(2 ** 32));
    const pass = () =>
      new Promise<Reply>((resolve, reject) => {
        const passed = request(new URL(daemon.url), { method, path: url, headers, agent: false });
        passed.on('error', reject).end(body);
        passed.once('response', async (answer) =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) }),
        );
      });
    const give = ({ status, headers: answered, body: whole }: Reply) =>
      res.writeHead(status, answered).end(whole);
    const page = () => res.writeHead(mine.pick(PAGES), { 'content-type': 'text/html' }).end('<h1>Sorry</h1>');
    const half = (reply: Reply, more: string) => {
      const { 'content-length': _length, connection: _connection, ...others } = reply.headers;
      res.writeHead(reply.status, { ...others, 'transfer-encoding': 'chunked' });
      res.end(Buffer.concat([reply.body.subarray(0, mine.below(reply.body.length)), Buffer.from(more)]));
    };
    const deed = mine.chance(0.4) ? 'pass' : mine.pick(isQuestion ? TO_QUESTIONS : TO_CALLS);
    deeds.set(deed, (deeds.get(deed) ?? 0) + 1);
    if (deed === 'drop') return res.destroy();
    if (deed === 'page unsent') return page();
    const reply = await pass();
    if (deed === 'pass') return give(reply);
    if (deed === 'repeat') return give(await pass());
    if (deed === 'cut') return res.destroy();
    if (deed === 'page') return page();
    if (deed === 'half') return half(reply, '');
    if (deed === 'half and more') return half(reply, '<h1>Bad Gateway</h1>');
    // In the middle of it.
    res.writeHead(reply.status, reply.headers);
    return res.write(reply.body.subarray(0, mine.below(reply.body.length)), () => res.destroy());
  });

  const exits = new Map<string, number>();
  const wrong: unknown[] = [];
  await inLanes(CALLS, LANES, async (n) => {
    const args = [
      'call',
      INTERN_ID,
      PATH,
      '--data',
      JSON.stringify({ n }),
      '--daemon',
      hop.url,
      '--timeout',
      '20',
    ];
    const { exit, stdout, stderr } = await runOri(home, args);
    const times = ran.get(n) ?? 0;
    const key = `exit ${exit}, carried out ${times}`;
    exits.set(key, (exits.get(key) ?? 0) + 1);
    const isHalf = exit === 0 && stdout !== answerTo(n);
    const isMisled =
      times > 0 && (exit === 6 || /try again|run the command again|not carried out/i.test(stderr));
    if (times > 1 || isHalf || isMisled) wrong.push({ n, exit, times, stdout, stderr });
  });
  console.log(`SEED=${SEED}`, Object.fromEntries(deeds), Object.fromEntries([...exits].sort()));
  expect(wrong).toEqual([]);
});
