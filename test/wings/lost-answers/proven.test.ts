import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ANSWER_PROOF, createAnswerKey } from '@ori/proof/answer-proof';
import { inLanes } from '@ori/test-env/in-lanes';
import { keepAnswers } from '@ori/verifier/answers';
import type { Proven } from '@ori/verifier/node';
import { afterAll, expect, it } from 'vitest';
import { runOri, startOri } from '../../e2e/cli-in-process.ts';
import { guarded, INTERN_ID, listen, openSignedInWorld } from '../../e2e/cli-world.ts';
import { createRandom, type Random } from '../../lab/exactly-once/random.ts';

// A server in between that does whatever it can without a key, to a daemon that proves its answers.
const CALLS = Number(process.env['CALLS'] ?? 60);
const SEED = process.env['SEED'] ?? 'hostile to proofs';
const LANES = 16;
const PATH = '/api/pay';
const { world, home } = await openSignedInWorld();
const seed = randomBytes(32);
const key = createAnswerKey(seed);
const own = createAnswerKey(randomBytes(32));
Object.assign(world.jwks, { 'ori.answers': [{ x: key.x }] });

type Kind = 'JSON' | 'stream' | 'empty' | 'large';
const KINDS: readonly Kind[] = ['JSON', 'stream', 'empty', 'large'];
const isLarge = (kind: Kind) => kind === 'large';
const resultOf = (n: number, kind: Kind) => ({
  paid: n,
  receipt: 'x'.repeat(isLarge(kind) ? 300_000 : n % 400),
});
const textOf = (n: number, kind: Kind) =>
  kind === 'empty' ? '' : JSON.stringify({ jsonrpc: '2.0', id: n, result: resultOf(n, kind) });
/** What `ori call` prints, and what a program gets through `ori proxy`. */
const bodyOf = (n: number, kind: Kind) =>
  kind === 'stream' ? `: begun\n\ndata: ${textOf(n, kind)}\n\n` : textOf(n, kind);

const ran = new Map<number, number>();
const handler = (_req: IncomingMessage, res: ServerResponse, { body }: Proven) => {
  const { id: n, params } = JSON.parse(String(body));
  const { kind } = params as { kind: Kind };
  ran.set(n, (ran.get(n) ?? 0) + 1);
  if (kind === 'empty') return res.writeHead(204).end();
  const text = bodyOf(n, kind);
  res.setHeader('content-type', kind === 'stream' ? 'text/event-stream' : 'application/json');
  if (kind !== 'stream') return res.end(text);
  res.write(text.slice(0, 9));
  res.end(text.slice(9));
};
const daemon = await guarded(world, handler, { answers: keepAnswers({ key: seed }) });
afterAll(() => daemon.stop());

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
/** What the server may use: the request, sent on as often as it likes, and what it saw of other calls. */
interface Hop {
  readonly res: ServerResponse;
  readonly random: Random;
  readonly earlier: readonly Reply[];
  pass(): Promise<Reply>;
}
type Attack = (hop: Hop) => unknown;

const give = ({ res }: Hop, { status, headers, body }: Reply) => {
  const {
    'transfer-encoding': _framing,
    connection: _connection,
    'content-length': _length,
    ...others
  } = headers;
  const length = status === 204 ? {} : { 'content-length': body.length };
  res.writeHead(status, { ...others, ...length }).end(body);
};
const changed =
  (change: (reply: Reply, hop: Hop) => Partial<Reply>): Attack =>
  async (hop) => {
    const reply = await hop.pass();
    give(hop, { ...reply, ...change(reply, hop) });
  };
const invented = (status: number, code: string, headers: IncomingHttpHeaders = {}): Attack =>
  changed(() => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify({ error: { code, message: '' } })),
  }));
const without = ({ headers }: Reply): IncomingHttpHeaders => {
  const { [ANSWER_PROOF]: _proof, ...others } = headers;
  return others;
};
const spoilt = ({ body }: Reply) => {
  if (body.length === 0) return Buffer.from('{}');
  const other = Buffer.from(body);
  other[other.length >> 1] = (other[other.length >> 1] ?? 0) ^ 1;
  return other;
};
const halfOf = (body: Buffer, { random }: Hop) => body.subarray(0, random.below(body.length));
const chunked = (hop: Hop, { status, headers }: Reply, body: Buffer) => {
  const { 'content-length': _length, connection: _connection, ...others } = headers;
  hop.res.writeHead(status, { ...others, 'transfer-encoding': 'chunked' }).end(body);
};

const ON_ANSWERS: Readonly<Record<string, Attack>> = {
  'changes a byte': changed((reply) => ({ body: spoilt(reply) })),
  'changes a byte and takes the proof away': changed((reply) => ({
    body: spoilt(reply),
    headers: without(reply),
  })),
  'takes the proof away': changed((reply) => ({ headers: without(reply) })),
  'leaves the key alone': changed(({ headers }) => ({ headers: { ...headers, [ANSWER_PROOF]: key.x } })),
  'ends cleanly in the middle': async (hop) => {
    const reply = await hop.pass();
    chunked(hop, reply, halfOf(reply.body, hop));
  },
  'ends cleanly with a text of its own': async (hop) => {
    const reply = await hop.pass();
    chunked(hop, reply, Buffer.concat([halfOf(reply.body, hop), Buffer.from('<h1>Bad Gateway</h1>')]));
  },
  'cuts the connection in the middle': async (hop) => {
    const reply = await hop.pass();
    hop.res.writeHead(reply.status, reply.headers);
    hop.res.write(halfOf(reply.body, hop), () => hop.res.destroy());
  },
  'swallows the answer': async ({ pass, res }) => pass().then(() => res.destroy()),
  'swallows the call': ({ res }) => res.destroy(),
  'gives another status': changed(({ status }) => ({ status: status === 201 ? 200 : 201 })),
  'gives another media type': changed(({ headers }) => ({
    headers: { ...headers, 'content-type': 'text/html' },
  })),
  'gives the answer of another call': changed((reply, { earlier, random }) =>
    earlier.length === 0 ? { body: spoilt(reply) } : random.pick(earlier),
  ),
  'signs with a key of its own': changed((reply) => ({
    body: spoilt(reply),
    headers: { ...reply.headers, [ANSWER_PROOF]: `${own.x} ${randomBytes(64).toString('base64url')}` },
  })),
  'invents a refusal': invented(401, 'signature_invalid'),
  'invents a refusal that asks to be signed again': invented(401, 'proof_before_fence', {
    'retry-after': '0',
  }),
  'sends a copy first': async (hop) => {
    await hop.pass();
    give(hop, await hop.pass());
  },
};

const ON_QUESTIONS: Readonly<Record<string, Attack>> = {
  'swallows it': ({ res }) => res.destroy(),
  'swallows its answer': async ({ pass, res }) => pass().then(() => res.destroy()),
  'says that the call was not received': invented(404, 'call_not_received'),
  'says that the call is running': invented(409, 'call_running', { 'retry-after': '0' }),
  'invents a kept answer': changed(() => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'ori-answer': 'kept' },
    body: Buffer.from('{"paid":"nobody"}'),
  })),
  'calls what it saw a kept answer': changed((reply, { earlier, random }) => {
    const other = earlier.length === 0 ? reply : random.pick(earlier);
    return { ...other, headers: { ...other.headers, 'ori-answer': 'kept' } };
  }),
  'takes the proof away': changed((reply) => ({ headers: without(reply) })),
  'changes a byte': changed((reply) => ({ body: spoilt(reply) })),
  'gives the answer to another question': changed((reply, { earlier, random }) =>
    earlier.length === 0 ? { headers: without(reply) } : random.pick(earlier),
  ),
};

const random = createRandom(SEED);
const deeds = new Map<string, number>();
const seen: { answers: Reply[]; questions: Reply[] } = { answers: [], questions: [] };
/** Calls to which, and to whose questions, nothing was done: by the id of the message. */
const touched = new Set<number>();
const callOf = new Map<string, number>();

const hop = await listen(async (req, res) => {
  const { method = '', url = '', headers } = req;
  const body = await buffer(req);
  const isQuestion = url !== PATH;
  const nonce = isQuestion ? (url.split('/')[4] ?? '') : String(headers['x-ori-invoke-nonce']);
  if (!isQuestion) callOf.set(nonce, JSON.parse(String(body)).id);
  const mine: Random = random.derive(random.below(2 ** 32));
  const pass = () =>
    new Promise<Reply>((resolve, reject) => {
      const passed = request(new URL(daemon.url), { method, path: url, headers, agent: false });
      passed.on('error', reject).end(body);
      passed.once('response', async (answer) =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) }),
      );
    });
  const before = isQuestion ? seen.questions : seen.answers;
  const earlier = [...before];
  const passing = async () => {
    const reply = await pass();
    before.push(reply);
    if (before.length > 8) before.shift();
    return reply;
  };
  const acting = { res, random: mine, earlier, pass: passing };
  if (mine.chance(isQuestion ? 0.5 : 0.25)) return give(acting, await passing());
  const [name, attack] = mine.pick(Object.entries(isQuestion ? ON_QUESTIONS : ON_ANSWERS));
  touched.add(callOf.get(nonce) ?? -1);
  const deed = `${isQuestion ? 'to a question' : 'to a call'}: ${name}`;
  deeds.set(deed, (deeds.get(deed) ?? 0) + 1);
  return attack(acting);
});
afterAll(() => hop.stop());

// Longer than a busy machine may stand still: an answer that is too large to be kept would be lost.
const AT = ['--daemon', hop.url, '--timeout', '120'];
const proxy = home.start(['proxy', INTERN_ID, ...AT], { stdin: null });
const [address] = await once(createInterface(proxy.child.stdout as Readable), 'line');
afterAll(async () => {
  proxy.child.kill();
  await proxy.result;
});

/** How a call ended for its program: with an answer, whose text is given; told that it is lost; or otherwise. */
type Ended = { readonly given: string } | { readonly lost: string } | { readonly other: unknown };
type Program = (n: number, kind: Kind) => Promise<Ended>;
const message = (n: number, kind: Kind) =>
  JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params: { kind } });

const PROGRAMS: Readonly<Record<string, Program>> = {
  async call(n, kind) {
    const run = await runOri(home, ['call', INTERN_ID, PATH, '--data', message(n, kind), ...AT]);
    if (run.exit === 0) return { given: run.stdout };
    return run.exit === 9 && !/try again/i.test(run.stderr) ? { lost: run.stderr } : { other: run };
  },
  async mcp(n, kind) {
    const stdin = `${message(n, kind)}\n`;
    const { stdout } = await startOri(home, ['mcp', INTERN_ID, PATH, ...AT], { stdin }).result;
    const { result, error } = JSON.parse(stdout);
    if (result !== undefined) return { given: stdout.trimEnd() };
    return error.data.code === 'answer_lost' ? { lost: error.message } : { other: error };
  },
  async proxy(n, kind) {
    const headers = { 'content-type': 'application/json' };
    try {
      const answer = await fetch(address + PATH, { method: 'POST', body: message(n, kind), headers });
      const text = await answer.text();
      if (answer.ok) return { given: text };
      const isLost = answer.headers.get('x-ori-proxy-error') === 'answer_lost';
      return isLost ? { lost: text } : { other: `${answer.status} ${text.slice(0, 200)}` };
    } catch (error) {
      return { lost: `it was cut: ${error instanceof Error ? error.cause : error}` };
    }
  },
};

it(`of ${CALLS} calls through a hostile server, none is carried out twice, and each answer that is given is the daemon's`, {
  timeout: 7_200_000,
}, async () => {
  const ends = new Map<string, number>();
  const wrong: unknown[] = [];
  const programs = Object.entries(PROGRAMS);
  await inLanes(CALLS, LANES, async (n) => {
    const [name, program] = programs[n % programs.length] ?? expect.unreachable();
    const kind = KINDS[Math.floor(n / programs.length) % KINDS.length] ?? 'JSON';
    // A request has no empty answer.
    const asked = name === 'mcp' && kind === 'empty' ? 'stream' : kind;
    const ended = await program(n, asked);
    const times = ran.get(n) ?? 0;
    const isGiven = 'given' in ended;
    const end = isGiven ? 'given' : 'lost' in ended ? 'lost' : 'otherwise';
    const row = `${name}: ${end}, carried out ${times}`;
    ends.set(row, (ends.get(row) ?? 0) + 1);
    const expected = name === 'mcp' ? textOf(n, asked) : bodyOf(n, asked);
    const isFalse = isGiven && ended.given !== expected;
    // Whatever else it is told is that the call was not carried out.
    const isMisled = end === 'otherwise' && times > 0;
    const isRefused = !touched.has(n) && !isGiven;
    if (times > 1 || isFalse || isMisled || isRefused)
      wrong.push({
        n,
        name,
        asked,
        end,
        times,
        isFalse,
        isRefused,
        ended: isGiven ? ended.given.slice(0, 200) : ended,
      });
  });
  const rows = (of: Map<string, number>) => Object.fromEntries([...of].sort());
  console.log(`SEED=${SEED}`, rows(deeds), rows(ends), { untouched: CALLS - touched.size });
  expect(wrong).toEqual([]);
});
