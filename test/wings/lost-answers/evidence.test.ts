import { once } from 'node:events';
import { type IncomingHttpHeaders, request, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { keepAnswers } from '@ori/verifier/answers';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { runOri, startOri } from '../../e2e/cli-in-process.ts';
import { guarded, INTERN_ID, listen, openSignedInWorld } from '../../e2e/cli-world.ts';

// What comes back through servers in between that are not hostile, only themselves, by `ori call`, `ori mcp` and `ori proxy`.
const { world, home } = await openSignedInWorld();
const MESSAGE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
const RESPONSE = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { paid: 7 } });
const PATH = '/api/pay';

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let ran = 0;
let asked = 0;
let isStream = false;
const daemon = await guarded(
  world,
  (_req, res) => {
    ran += 1;
    if (!isStream) return res.setHeader('content-type', 'application/json').end(RESPONSE);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(': begun\n\n');
    res.end(`data: ${RESPONSE}\n\n`);
  },
  { answers: keepAnswers() },
);
afterAll(() => daemon.stop());

type Behave = (res: ServerResponse, pass: () => Promise<Reply>) => unknown;
let behave: Behave = () => undefined;
let isQuestionPassed = true;
const hop = await listen(async (req, res) => {
  const { method = '', url = '', headers } = req;
  const body = await buffer(req);
  const pass = () =>
    new Promise<Reply>((resolve, reject) => {
      const passed = request(new URL(daemon.url), { method, path: url, headers, agent: false });
      passed.on('error', reject).end(body);
      passed.once('response', async (answer) =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) }),
      );
    });
  const isQuestion = url !== PATH;
  if (isQuestion) asked += 1;
  if (!isQuestion) return behave(res, pass);
  if (!isQuestionPassed) return res.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>');
  const { status, headers: answered, body: whole } = await pass();
  res.writeHead(status, answered).end(whole);
});
afterAll(() => hop.stop());

const proxy = home.start(['proxy', INTERN_ID, '--timeout', '5'], {
  stdin: null,
  env: { ORI_DAEMON_URL: hop.url },
});
const [address] = await once(createInterface(proxy.child.stdout as Readable), 'line');
afterAll(async () => {
  proxy.child.kill();
  await proxy.result;
});

beforeEach(() => {
  ran = 0;
  asked = 0;
  isStream = false;
  isQuestionPassed = true;
});

/** The call is carried out, and its answer lost: the server in between gives its own. */
const instead =
  (status: number, body = '', type = 'text/html'): Behave =>
  async (res, pass) => {
    await pass();
    res.writeHead(status, { 'content-type': type }).end(body);
  };
const json = (status: number, body: object) => instead(status, JSON.stringify(body), 'application/json');
/** The beginning of the answer, as if it were the whole. */
const half =
  (more = ''): Behave =>
  async (res, pass) => {
    const { status, headers, body } = await pass();
    const { 'content-length': _length, connection: _connection, ...others } = headers;
    res.writeHead(status, { ...others, 'transfer-encoding': 'chunked' });
    res.end(Buffer.concat([body.subarray(0, 9), Buffer.from(more)]));
  };

const whole: Behave = async (res, pass) => {
  const { status, headers, body } = await pass();
  res.writeHead(status, headers).end(body);
};

const CASES: readonly (readonly [string, Behave])[] = [
  [
    'a proxy that sends it again',
    async (res, pass) => {
      await pass();
      const { status, headers, body } = await pass();
      expect([status, String(body)]).toEqual([401, expect.stringContaining('nonce_replayed')]);
      res.writeHead(status, headers).end(body);
    },
  ],
  ['lighttpd', instead(500)],
  [
    'Spring Cloud Gateway',
    json(500, { timestamp: 'T', path: PATH, status: 500, error: 'Internal Server Error', requestId: 'a' }),
  ],
  [
    '@fastify/http-proxy',
    json(500, { statusCode: 500, code: 'UND_ERR_SOCKET', error: 'Internal Server Error', message: 'closed' }),
  ],
  ['a gateway with a code of its own', json(502, { error: { code: 'bad_gateway', message: 'Bad gateway' } })],
  ['a gateway with a number for a code', json(503, { error: { code: '502', message: 'Bad gateway' } })],
  ['a Cloudflare tunnel without a connector', instead(530, 'error code: 1033')],
  ['a gateway that waited too long', instead(408, 'Request Timeout')],
  ['a gateway whose upstream timed out', instead(598)],
  ['a connection that is cut', async (res, pass) => pass().then(() => res.destroy())],
];

const CALL = ['call', INTERN_ID, PATH, '--data', MESSAGE, '--daemon', hop.url, '--timeout', '5'];
const call = () => runOri(home, CALL);
const mcp = async () => {
  const args = ['mcp', INTERN_ID, PATH, '--daemon', hop.url, '--timeout', '5'];
  const { stdout, stderr } = await startOri(home, args, { stdin: `${MESSAGE}\n` }).result;
  return { stdout: stdout.trimEnd(), stderr };
};
const post = () =>
  fetch(address + PATH, { method: 'POST', body: MESSAGE, headers: { 'content-type': 'application/json' } });

describe.each(CASES)('a lost answer behind %s', (_name, how) => {
  beforeEach(() => {
    behave = how;
  });

  it('is given by ori call', async () => {
    expect(await call()).toMatchObject({ exit: 0, stdout: RESPONSE });
    expect(ran).toBe(1);
  });

  it('is given by ori mcp', async () => {
    expect((await mcp()).stdout).toBe(RESPONSE);
    expect(ran).toBe(1);
  });

  it('is given by ori proxy', async () => {
    const answer = await post();
    expect([answer.status, await answer.text()]).toEqual([200, RESPONSE]);
    expect(ran).toBe(1);
  });
});

describe('an answer of unknown length that a proxy ended cleanly', () => {
  beforeEach(() => {
    isStream = true;
  });
  const WHOLE = `: begun\n\ndata: ${RESPONSE}\n\n`;

  it('is whole, after one question, if it is what the daemon sent', async () => {
    behave = whole;
    expect(await call()).toMatchObject({ exit: 0, stdout: WHOLE });
    expect([ran, asked]).toEqual([1, 1]);
  });

  it('is completed by ori call and ori proxy', async () => {
    behave = half();
    expect(await call()).toMatchObject({ exit: 0, stdout: WHOLE });
    expect(await (await post()).text()).toBe(WHOLE);
    expect(ran).toBe(2);
  });

  it.each(['an error page', ': begun\n\nwith a page instead of the rest'])(
    'is refused with what the proxy added: %j',
    async (more) => {
      behave = half(more);
      const { exit, stderr } = await call();
      expect([exit, stderr]).toEqual([
        9,
        expect.stringContaining('what arrived is not what the daemon sent'),
      ]);
      expect(stderr).toContain('The call was carried out.');
      await expect(post().then((answer) => answer.text())).rejects.toThrow();
    },
  );
});

it('is completed by ori mcp if a stream ends cleanly without the response', async () => {
  isStream = true;
  behave = half();
  expect((await mcp()).stdout).toBe(RESPONSE);
  expect(ran).toBe(1);
});

it('is told, if the question finds no daemon', async () => {
  isQuestionPassed = false;
  behave = instead(502, 'Bad Gateway');
  const told = expect.stringContaining('got 404: the daemon keeps no answers, or a gateway does not pass on');
  expect(await call()).toMatchObject({ exit: 8, stdout: 'Bad Gateway', stderr: told });
  expect(await mcp()).toMatchObject({
    stdout: expect.stringContaining('may have been carried out'),
    stderr: told,
  });
  expect((await post()).status).toBe(502);
});

it('is never told as something to try again, if a copy came first and nobody knows the answer', async () => {
  isQuestionPassed = false;
  behave = CASES[0]?.[1] ?? behave;
  const { exit, stderr } = await call();
  expect([exit, stderr]).toEqual([9, expect.stringContaining('the daemon has seen this proof before')]);
  const { stdout } = await mcp();
  expect(JSON.parse(stdout)).toMatchObject({ error: { data: { code: 'answer_lost', exit: 9 } } });
  expect((await post()).status).toBe(502);
  for (const told of [stderr, stdout]) expect(told).not.toMatch(/try again|run the command again/i);
  expect(ran).toBe(3);
});

// An answer that says that the call was not carried out is believed, and costs no question.
it('costs no question where nothing is lost', async () => {
  behave = whole;
  expect(await call()).toMatchObject({ exit: 0, stdout: RESPONSE });
  behave = (res) => res.writeHead(401).end(JSON.stringify({ error: { code: 'signature_invalid' } }));
  expect(await call()).toMatchObject({ exit: 7 });
  behave = (res) => res.writeHead(404).end('no such page');
  expect(await call()).toMatchObject({ exit: 7 });
  expect(asked).toBe(0);
});
