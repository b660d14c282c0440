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
import { expect } from 'vitest';
import { runOri, startOri } from '../../e2e/cli-in-process.ts';
import type { OriHome } from '../../e2e/cli-process.ts';
import { type CliWorld, guarded, INTERN_ID, listen } from '../../e2e/cli-world.ts';
import type { Random } from '../../lab/exactly-once/random.ts';

// A daemon that proves its answers, a server in between that does whatever it can without a key, and what programs make of both.

const PATH = '/api/pay';
const seed = randomBytes(32);
const key = createAnswerKey(seed);
const own = createAnswerKey(randomBytes(32));

type Kind = 'JSON' | 'stream' | 'empty' | 'large';
const KINDS: readonly Kind[] = ['JSON', 'stream', 'empty', 'large'];
const isLarge = (kind: Kind) => kind === 'large';
const typeOf = (kind: Kind) =>
  kind === 'empty' ? null : kind === 'stream' ? 'text/event-stream' : 'application/json';
const resultOf = (n: number, kind: Kind) => ({
  paid: n,
  receipt: 'x'.repeat(isLarge(kind) ? 300_000 : n % 400),
});
const textOf = (n: number, kind: Kind) =>
  kind === 'empty' ? '' : JSON.stringify({ jsonrpc: '2.0', id: n, result: resultOf(n, kind) });
/** What `ori call` prints, and what a program gets through `ori proxy`. */
const bodyOf = (n: number, kind: Kind) =>
  kind === 'stream' ? `: begun\n\ndata: ${textOf(n, kind)}\n\n` : textOf(n, kind);

/** The daemon, whose key the intern's key set has from now on. `ran` counts how often it carried out each call. */
export async function startProvingDaemon(world: CliWorld) {
  Object.assign(world.jwks, { 'ori.answers': [{ x: key.x }] });
  const ran = new Map<number, number>();
  const handler = (_req: IncomingMessage, res: ServerResponse, { body }: Proven) => {
    const { id: n, params } = JSON.parse(String(body));
    const { kind } = params as { kind: Kind };
    ran.set(n, (ran.get(n) ?? 0) + 1);
    if (kind === 'empty') return res.writeHead(204).end();
    const text = bodyOf(n, kind);
    res.setHeader('content-type', String(typeOf(kind)));
    if (kind !== 'stream') return res.end(text);
    res.write(text.slice(0, 9));
    res.end(text.slice(9));
  };
  const daemon = await guarded(world, handler, { answers: keepAnswers({ key: seed }) });
  return { ...daemon, ran };
}

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
const forged = () => `${own.x} ${randomBytes(64).toString('base64url')}`;
const halfOf = (body: Buffer, { random }: Hop) => body.subarray(0, random.below(body.length));
const chunked = (hop: Hop, { status, headers }: Reply, body: Buffer) => {
  const { 'content-length': _length, connection: _connection, ...others } = headers;
  hop.res.writeHead(status, { ...others, 'transfer-encoding': 'chunked' }).end(body);
};

export const ON_ANSWERS: Readonly<Record<string, Attack>> = {
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
  'adds a second media type': changed(({ headers }) => {
    const two: object = { 'content-type': [headers['content-type'] ?? '', 'text/html'] };
    return { headers: { ...headers, ...two } };
  }),
  'adds a second proof': changed(({ headers }) => {
    const honest = headers[ANSWER_PROOF] ?? [];
    return { headers: { ...headers, [ANSWER_PROOF]: [String(honest), forged()] } };
  }),
  'gives the answer of another call': changed((reply, { earlier, random }) =>
    earlier.length === 0 ? { body: spoilt(reply) } : random.pick(earlier),
  ),
  'signs with a key of its own': changed((reply) => ({
    body: spoilt(reply),
    headers: { ...reply.headers, [ANSWER_PROOF]: forged() },
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

export const ON_QUESTIONS: Readonly<Record<string, Attack>> = {
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

/** What is done to a call, or to a question about it, by the id of its message; undefined if it is passed on. */
export type Plan = (n: number, isQuestion: boolean, random: Random) => string | undefined;

/** Is in front of the daemon at `url`. */
export async function startHostileServer(url: string, random: Random, plan: Plan) {
  const deeds = new Map<string, number>();
  const seen: { answers: Reply[]; questions: Reply[] } = { answers: [], questions: [] };
  /** Calls to which, or to whose questions, something was done. */
  const touched = new Set<number>();
  const callOf = new Map<string, number>();
  const hop = await listen(async (req, res) => {
    const { method = '', url: path = '', headers } = req;
    const body = await buffer(req);
    const mine: Random = random.derive(random.below(2 ** 32));
    const pass = () =>
      new Promise<Reply>((resolve, reject) => {
        const passed = request(new URL(url), { method, path, headers, agent: false });
        passed.on('error', reject).end(body);
        passed.once('response', async (answer) =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) }),
        );
      });
    const isQuestion = path.startsWith('/.well-known/ori/calls/');
    const before = isQuestion ? seen.questions : seen.answers;
    const earlier = [...before];
    const passing = async () => {
      const reply = await pass();
      before.push(reply);
      if (before.length > 8) before.shift();
      return reply;
    };
    const acting = { res, random: mine, earlier, pass: passing };
    // Asked whether it is there.
    if (!isQuestion && path !== PATH) return give(acting, await pass());
    const nonce = isQuestion ? (path.split('/')[4] ?? '') : String(headers['x-ori-invoke-nonce']);
    if (!isQuestion) callOf.set(nonce, JSON.parse(String(body)).id);
    const n = callOf.get(nonce) ?? expect.unreachable();
    const deed = plan(n, isQuestion, mine);
    if (deed === undefined) return give(acting, await passing());
    touched.add(n);
    const row = `${isQuestion ? 'to a question' : 'to a call'}: ${deed}`;
    deeds.set(row, (deeds.get(row) ?? 0) + 1);
    const attack = (isQuestion ? ON_QUESTIONS : ON_ANSWERS)[deed] ?? expect.unreachable();
    return attack(acting);
  });
  return { ...hop, deeds, touched };
}

/** How a call ended for its program: with an answer, whose text is given, and its media type if it was seen; told that it is lost; or otherwise. */
type Ended =
  | { readonly given: string; readonly type?: string | null }
  | { readonly lost: string }
  | { readonly other: unknown };
type Program = (n: number, kind: Kind) => Promise<Ended>;

/** `ori call`, `ori mcp` and `ori proxy`, which call what is at `url`. */
export async function startPrograms(home: OriHome, url: string) {
  // Longer than a busy machine may stand still: an answer that is too large to be kept would be lost.
  const at = ['--daemon', url, '--timeout', '120'];
  const proxy = home.start(['proxy', INTERN_ID, ...at], { stdin: null });
  const [address] = await once(createInterface(proxy.child.stdout as Readable), 'line');
  const message = (n: number, kind: Kind) =>
    JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params: { kind } });
  const programs: Readonly<Record<string, Program>> = {
    async call(n, kind) {
      const run = await runOri(home, ['call', INTERN_ID, PATH, '--data', message(n, kind), ...at]);
      if (run.exit === 0) return { given: run.stdout };
      return run.exit === 9 && !/try again/i.test(run.stderr) ? { lost: run.stderr } : { other: run };
    },
    async mcp(n, kind) {
      const stdin = `${message(n, kind)}\n`;
      const { stdout } = await startOri(home, ['mcp', INTERN_ID, PATH, ...at], { stdin }).result;
      const { result, error } = JSON.parse(stdout);
      if (result !== undefined) return { given: stdout.trimEnd() };
      return error.data.code === 'answer_lost' ? { lost: error.message } : { other: error };
    },
    async proxy(n, kind) {
      const headers = { 'content-type': 'application/json' };
      try {
        const answer = await fetch(address + PATH, { method: 'POST', body: message(n, kind), headers });
        const text = await answer.text();
        if (answer.ok) return { given: text, type: answer.headers.get('content-type') };
        const isLost = answer.headers.get('x-ori-proxy-error') === 'answer_lost';
        return isLost ? { lost: text } : { other: `${answer.status} ${text.slice(0, 200)}` };
      } catch (error) {
        return { lost: `it was cut: ${error instanceof Error ? error.cause : error}` };
      }
    },
  };
  return {
    programs,
    async [Symbol.asyncDispose]() {
      proxy.child.kill();
      await proxy.result;
    },
  };
}

const hasType = ({ type }: { readonly type?: string | null }, kind: Kind) =>
  type === undefined || type === typeOf(kind);

/** What a call comes to. */
export interface CallEnd {
  readonly n: number;
  readonly program: string;
  readonly kind: Kind;
  readonly end: 'given' | 'lost' | 'otherwise';
  /** How often it was carried out. */
  readonly times: number;
  /** What must not be. */
  readonly wrong: readonly string[];
  readonly told: unknown;
}

/** Makes calls of each kind by each program, some of them at a time. */
export function makeCalls(
  count: number,
  lanes: number,
  { programs }: Awaited<ReturnType<typeof startPrograms>>,
  { ran }: { readonly ran: ReadonlyMap<number, number> },
  { touched }: { readonly touched: ReadonlySet<number> },
): Promise<CallEnd[]> {
  const all = Object.entries(programs);
  return inLanes(count, lanes, async (n): Promise<CallEnd> => {
    const [program, make] = all[n % all.length] ?? expect.unreachable();
    const planned = KINDS[Math.floor(n / all.length) % KINDS.length] ?? 'JSON';
    // A request has no empty answer.
    const kind = program === 'mcp' && planned === 'empty' ? 'stream' : planned;
    const ended = await make(n, kind);
    const times = ran.get(n) ?? 0;
    const end = 'given' in ended ? 'given' : 'lost' in ended ? 'lost' : 'otherwise';
    const expected = program === 'mcp' ? textOf(n, kind) : bodyOf(n, kind);
    const wrong = Object.entries({
      'carried out twice': times > 1,
      'altered or half': 'given' in ended && !(ended.given === expected && hasType(ended, kind)),
      // Whatever else it is told is that the call was not carried out.
      'told wrongly': end === 'otherwise' && times > 0,
      'untouched and not given': !touched.has(n) && end !== 'given',
    }).flatMap(([name, is]) => (is ? [name] : []));
    const told = 'given' in ended ? ended.given.slice(0, 200) : ended;
    return { n, program, kind, end, times, wrong, told };
  });
}

/** How many there are of each. */
export const counted = (rows: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...new Set(rows)].sort().map((row) => [row, rows.filter((one) => one === row).length]));
