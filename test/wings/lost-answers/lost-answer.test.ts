import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { keepAnswers } from '@ori/verifier/answers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { guarded, INTERN_ID, listen, openSignedInWorld, type Scripted, send } from '../../e2e/cli-world.ts';
import { startCuttingHop } from '../../env/cutting-hop.ts';

const { world, home } = await openSignedInWorld();
const BODY = '{"paid":7}';
const CALL = ['call', INTERN_ID, '/pay', '--data', '{}', '--timeout', '2'];
const said = (status: number, code: string): Scripted => ({ status, body: { error: { code } } });
const kept = { status: 200, headers: { 'ori-answer': 'kept' }, body: JSON.parse(BODY) };

const cut = (res: ServerResponse) => res.destroy();
const truncated = (res: ServerResponse) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': BODY.length });
  res.write(BODY.slice(0, 4), () => res.destroy());
};

type Lose = (res: ServerResponse) => unknown;

/** A daemon that answers the first call in this way, or the first ones, questions with `answers`, in order, and later calls with 201. */
async function losing(lose: Lose | Lose[], ...answers: Scripted[]) {
  const [asked, nonces, keys]: [string[], unknown[], unknown[]] = [[], [], []];
  const loses = [lose].flat();
  const daemon = await listen((req, res) => {
    const { url = '', headers } = req;
    if (url !== '/pay') {
      asked.push(url);
      return send(res, answers.shift() ?? said(404, 'not_found'));
    }
    nonces.push(headers['x-ori-invoke-nonce']);
    keys.push(headers['idempotency-key']);
    return (loses.shift() ?? ((res) => send(res, { status: 201, body: 'again' })))(res);
  });
  onTestFinished(() => daemon.stop());
  return { url: daemon.url, nonces, asked, keys };
}

const run = (daemon: string, ...args: string[]) => home.ori([...CALL, '--daemon', daemon, ...args]);

it.each([
  ['a connection that is cut', cut],
  ['a body that is cut', truncated],
  ['the 502 of a gateway', (res: ServerResponse) => res.writeHead(502).end('Bad Gateway')],
  ['silence', () => {}],
])('prints the kept answer after %s', async (_how, lose) => {
  const daemon = await losing(lose, said(409, 'call_running'), { status: 502 }, kept);
  const result = await run(daemon.url);
  expect(result).toMatchObject({ exit: 0, stdout: BODY });
  expect(result.stderr).toContain('asking the daemon for it');
  expect(daemon.asked).toEqual(Array(3).fill(`/.well-known/ori/calls/${daemon.nonces[0]}`));
  expect(daemon.nonces).toHaveLength(1);
});

it('prints what a guard has kept of the answer of a daemon that knows nothing of proofs', async () => {
  await using guard = await openGuardWorld({
    env: { GUARD_INTERN_ID: INTERN_ID, GUARD_ANSWERS: 'true' },
    jwks: world.jwks,
    daemon: (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(BODY),
  });
  let isCut = false;
  await using hop = await startCuttingHop(
    () => guard.port,
    () => {
      if (isCut) return undefined;
      isCut = true;
      return { answer: 20 };
    },
  );
  const result = await run(hop.url);
  expect(result).toMatchObject({ exit: 0, stdout: BODY });
  expect(result.stderr).toContain('asking the daemon for it');
  expect(guard.seen).toMatchObject([{ method: 'POST', url: '/pay' }]);
});

it('says how to ask for the answer of a call that was interrupted', async () => {
  const arrived = Promise.withResolvers<void>();
  const daemon = await losing(() => arrived.resolve(), kept);
  const running = home.start([...CALL, '--daemon', daemon.url]);
  await arrived.promise;
  running.child.kill('SIGINT');
  const { exit, stderr } = await running.result;
  expect([exit, stderr]).toEqual([130, expect.stringContaining('ori: Interrupted.')]);
  const [, intern = '', path = ''] = /its answer: ori call (\S+) (\S+) --data ''/.exec(stderr) ?? [];
  const args = ['call', intern, path, '--data', '', '--daemon', daemon.url];
  expect(await home.ori(args)).toMatchObject({ exit: 0, stdout: BODY });
});

it('tells a script that an answer was kept', async () => {
  const json = await run((await losing(cut, kept)).url, '--json');
  expect(JSON.parse(json.stdout)).toEqual({
    status: 200,
    media_type: 'application/json',
    kept: true,
    body: { paid: 7 },
  });
  const head = await run((await losing(cut, kept)).url, '--include');
  expect(head.stdout).toContain('\nori-answer: kept\n');
});

// SPEC.md C7, A2, A4.
it('signs again once, what a daemon that kept answers before has not received', async () => {
  const lost = said(404, 'call_not_received');
  const daemon = await losing([cut, cut, cut, cut, cut], lost, kept, lost, lost, lost);
  const first = await run(daemon.url);
  expect(first).toMatchObject({ exit: 9, stdout: '' });
  expect(first.stderr).toContain('did not receive the call; that may be wrong. The call may have been');
  expect(await run(daemon.url)).toMatchObject({ exit: 0, stdout: BODY });
  expect(daemon.nonces).toHaveLength(2);
  const second = await run(daemon.url);
  expect(second).toMatchObject({ exit: 9, stdout: '' });
  expect(second.stderr).toContain('It was sent 2 times.');
  expect(new Set(daemon.nonces).size).toBe(4);
  expect(await run(daemon.url)).toMatchObject({ exit: 0, stdout: '"again"' });
  expect(daemon.nonces).toHaveLength(6);
  const [one, , three, again, five, last] = daemon.keys;
  expect([again, last]).toEqual([three, five]);
  expect(new Set([one, three, five]).size).toBe(3);
});

it.each([
  [said(410, 'answer_lost'), 'has no answer to it either. The call may have been carried out.'],
  [said(410, 'answer_too_large'), 'The call was carried out'],
  [said(404, 'answers_not_kept'), 'keeps no answers. The call may have been carried out.'],
  [
    said(404, 'not_found'),
    'got 404: the daemon keeps no answers, or a gateway does not pass on /.well-known/ori/.',
  ],
  [{ status: 200, body: 'a page' }, 'got 200: the daemon keeps no answers'],
])('says what is unknown if the daemon answers %j', async (answer, words) => {
  const daemon = await losing(cut, answer);
  const result = await run(daemon.url);
  expect(result).toMatchObject({ exit: 9, stdout: '' });
  expect(result.stderr).toContain(words);
  expect(daemon.nonces).toHaveLength(1);
});

it.each([[{ ...kept, body: { lost: 7 } }], [{ ...kept, status: 201 }], [said(404, 'call_not_received')]])(
  'does not continue an answer with another one: %j',
  async (answer) => {
    const daemon = await losing(truncated, answer);
    expect(await run(daemon.url)).toMatchObject({ exit: 9, stdout: BODY.slice(0, 4) });
    expect(daemon.nonces).toHaveLength(1);
  },
);

/** A proxy, and what a program sends to it with one key. */
async function startProxy(daemonUrl: string) {
  const running = home.start(['proxy', INTERN_ID], { stdin: null, env: { ORI_DAEMON_URL: daemonUrl } });
  onTestFinished(async () => {
    running.child.kill();
    await running.result;
  });
  const [url] = await once(createInterface(running.child.stdout as Readable), 'line');
  return (body: string, signal?: AbortSignal) =>
    fetch(`${url}/pay`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'invoice 7' },
      ...(signal === undefined ? {} : { signal }),
    });
}

it.each([
  ['signs a call again that was refused before it was carried out', 'busy', 201, 2],
  ['does not sign a call again that failed', 'broken', 502, 1],
])('%s, for a program that repeats it', async (_what, code, status, calls) => {
  const daemon = await losing((res) => send(res, said(503, code)));
  const post = await startProxy(daemon.url);
  expect((await post('{}')).status).toBe(503);
  expect((await post('{}')).status).toBe(status);
  expect(daemon.nonces).toHaveLength(calls);
});

it('gives a program that was cut off the answer to the call that it repeats', async () => {
  const [ran, left] = [vi.fn(), Promise.withResolvers<void>()];
  await using daemon = await guarded(
    world,
    async (_req, res) => {
      ran();
      await left.promise;
      res.end(BODY);
    },
    { answers: keepAnswers() },
  );
  const post = await startProxy(daemon.url);
  const cut = new AbortController();
  const first = post('{}', cut.signal);
  await expect.poll(() => ran).toHaveBeenCalled();
  cut.abort();
  await expect(first).rejects.toThrow();
  left.resolve();
  const second = await post('{}');
  expect([second.status, second.headers.get('ori-answer'), await second.text()]).toEqual([200, 'kept', BODY]);
  expect(ran).toHaveBeenCalledTimes(1);
  expect((await post('{"other":1}')).status).toBe(422);
});

it('does not send a message of MCP again because nobody is signed in when it asks', async () => {
  const daemon = await losing((res) => {
    const refusal = { status: 403, body: { error: { code: 403, message: 'No.', metadata: {} } } };
    world.scripted.push({ status: 401, body: {} }, { status: 401, body: {} }, refusal);
    res.destroy();
  });
  const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const run = { stdin: `${line}\n`, env: { ORI_DAEMON_URL: daemon.url } };
  const { stdout } = await home.ori(['mcp', INTERN_ID, '/pay', '--timeout', '2'], run);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { data: { code: 'answer_lost', exit: 9 } } });
  expect(daemon.nonces).toHaveLength(1);
  world.scripted.length = 0;
});
