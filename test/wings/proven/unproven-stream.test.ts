import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createAnswerKey } from '@ori/proof/answer-proof';
import { keepAnswers } from '@ori/verifier/answers';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { run } from '../../../services/ori/src/program.ts';
import { runOri, startOri } from '../../e2e/cli-in-process.ts';
import { guarded, INTERN_ID, listen, openSignedInWorld } from '../../e2e/cli-world.ts';
import { Sink } from '../../env/sink.ts';

// A stream through a server in between, which answers each question itself, or changes or cuts what it passes on.
const { world, home } = await openSignedInWorld();
const key = randomBytes(32);
Object.assign(world.jwks, { 'ori.answers': [{ x: createAnswerKey(key).x }] });
const PROGRESS = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progress: 1 },
});
const ASKED = JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'ping' });
const RESPONSE = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { paid: 7 } });
const WHOLE = [PROGRESS, ASKED, RESPONSE].map((each) => `data: ${each}\n\n`).join('');
const MESSAGE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
const PATH = '/mcp';

const handler = (_req: IncomingMessage, res: ServerResponse) => {
  res.setHeader('content-type', 'text/event-stream');
  res.write(WHOLE.slice(0, 9));
  res.end(WHOLE.slice(9));
};
const daemon = await guarded(world, handler, { answers: keepAnswers({ key }) });
afterAll(() => daemon.stop());
let isProven = false;
let change = (text: string): string => text;
const hop = await listen((req, res) => {
  const { method = '', url = '', headers } = req;
  if (url !== PATH && !isProven) return res.writeHead(404).end();
  const passed = request(new URL(daemon.url), { method, path: url, headers, agent: false });
  req.pipe(passed).once('response', async (back) => {
    const body = await buffer(back);
    res.writeHead(back.statusCode ?? 0, back.headers).end(url === PATH ? change(String(body)) : body);
  });
});
afterAll(() => hop.stop());
const AT = ['--daemon', hop.url, '--timeout', '5'];
const call = () => runOri(home, ['call', INTERN_ID, PATH, '--data', MESSAGE, ...AT]);
const mcp = async () => {
  const { stdout } = await startOri(home, ['mcp', INTERN_ID, PATH, ...AT], { stdin: `${MESSAGE}\n` }).result;
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};

it('is not printed by ori call; of ori mcp, what the server tells and asks passes, and the response does not', async () => {
  expect(await call()).toMatchObject({
    exit: 9,
    stdout: '',
    stderr: expect.stringContaining('nothing proves it'),
  });
  expect(await mcp()).toEqual([
    JSON.parse(PROGRESS),
    JSON.parse(ASKED),
    {
      jsonrpc: '2.0',
      id: 1,
      error: expect.objectContaining({ data: expect.objectContaining({ code: 'answer_lost' }) }),
    },
  ]);
});

/** What a program gets through ori proxy, and what the person is told. */
async function proxied() {
  const proxy = home.start(['proxy', INTERN_ID, ...AT], { stdin: null });
  const [address] = await once(createInterface(proxy.child.stdout as Readable), 'line');
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(address + PATH, { method: 'POST', headers, body: MESSAGE });
  const text = await answer.text().catch(({ message }) => message);
  proxy.child.kill();
  return { status: answer.status, text, stderr: (await proxy.result).stderr };
}

it('is cut by ori proxy after its last event', async () => {
  expect(await proxied()).toEqual({
    status: 200,
    text: 'terminated',
    stderr: expect.stringContaining('nothing proves it'),
  });
});

it('is shown on a terminal as it comes, and told at its end', async () => {
  const stdout = Object.assign(new Sink(), { isTTY: true });
  const stderr = new Sink();
  const exit = await run(['call', INTERN_ID, PATH, '--data', MESSAGE, ...AT], {
    environment: home.environment,
    stdin: Readable.from([]),
    stdout,
    stderr,
    interrupted: new AbortController().signal,
    nowSeconds: () => Math.floor(Date.now() / 1000),
  });
  expect(stdout.text).toContain(RESPONSE);
  expect([exit, stderr.text]).toEqual([9, expect.stringContaining('was cut off: nothing proves it')]);
});

it('is given by all of them once its proof arrives', async () => {
  isProven = true;
  expect(await call()).toMatchObject({ exit: 0, stdout: WHOLE });
  expect(await mcp()).toEqual([PROGRESS, ASKED, RESPONSE].map((each) => JSON.parse(each)));
});

it('that was changed is told as changed: none of it is given for the answer', async () => {
  change = (text) => text.replace('"paid":7', '"paid":8');
  onTestFinished(() => {
    change = (text) => text;
  });
  const told = expect.stringMatching(/what arrived is not what the daemon sent.*was carried out/s);
  expect(await call()).toMatchObject({ exit: 0, stdout: WHOLE });
  const { text, stderr } = await proxied();
  expect([text, stderr]).toEqual(['terminated', told]);
  const [progress, asked, { error, result }] = await mcp();
  expect([progress, asked, result, error.data]).toEqual([
    JSON.parse(PROGRESS),
    JSON.parse(ASKED),
    undefined,
    expect.objectContaining({ code: 'answer_lost', next: expect.stringContaining('was carried out') }),
  ]);
  expect(error.message).toContain('what arrived is not what the daemon sent');
});

it('that ends too early, cleanly, is given whole', async () => {
  change = (text) => text.slice(0, -9);
  expect(await call()).toMatchObject({ exit: 0, stdout: WHOLE });
  expect(await proxied()).toMatchObject({ status: 200, text: WHOLE });
  expect(await mcp()).toEqual([PROGRESS, ASKED, RESPONSE].map((each) => JSON.parse(each)));
});
