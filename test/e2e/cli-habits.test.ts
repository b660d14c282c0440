import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runOri } from './cli-in-process.ts';
import type { OriResult } from './cli-process.ts';
import { INTERN_ID, listen, openSignedInWorld, type Scripted, send } from './cli-world.ts';

const CALL = ['call', INTERN_ID, '/api/invoke'];
const { world, home } = await openSignedInWorld();

function ori(...args: string[]): Promise<OriResult> {
  return runOri(home, args, { ORI_BASE_URL: world.baseUrl, ORI_DAEMON_URL: world.daemonUrl });
}

/** Calls a daemon that echoes what it received. */
async function echo(args: readonly string[], answer: Partial<Scripted> = {}) {
  const got: { headers: Record<string, unknown>; body: string }[] = [];
  const daemon = await listen(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    got.push({ headers: { ...req.headers }, body });
    send(res, { status: 200, body: { ok: true }, ...answer });
  });
  const result = await ori(...CALL, ...args, '--daemon', daemon.url);
  await daemon.stop();
  return { ...result, headers: got[0]?.headers ?? {}, body: got[0]?.body };
}

const internsAre = (...interns: object[]): Scripted => ({
  status: 200,
  body: {
    data: interns.map((intern) => ({
      id: 'int_other',
      name: 'other',
      status: 'running',
      hostname: null,
      model: null,
      ...intern,
    })),
    has_more: false,
  },
});

it('sends the bytes of a file for @FILE, and the text itself for --data-raw', async () => {
  const file = join(home.folder, 'body.json');
  await writeFile(file, '{"a":1}\n');
  expect(await echo(['-d', `@${file}`])).toMatchObject({ exit: 0, body: '{"a":1}\n' });
  expect(await echo(['--data-raw', `@${file}`])).toMatchObject({ exit: 0, body: `@${file}` });
  expect(await echo(['--data', '@/nowhere'])).toMatchObject({ exit: 2, body: undefined });
  expect(await echo(['--data', 'a', '--data-raw', 'b'])).toMatchObject({ exit: 2, body: undefined });
});

it('sends additional headers, including the media type', async () => {
  const { exit, headers } = await echo(['-d', '', '-H', 'X-Trace: 7', '-H', 'content-type: text/plain']);
  expect({ exit, ...headers }).toMatchObject({ exit: 0, 'x-trace': '7', 'content-type': 'text/plain' });
  const typed = await echo(['-d', '', '--content-type', 'text/csv']);
  expect(typed.headers).toMatchObject({ 'content-type': 'text/csv' });
});

it('prints status and headers with -i, and writes the body to a file with -o', async () => {
  const file = join(home.folder, 'answer');
  const { exit, stdout } = await echo(['-d', '', '-i', '-o', file], { headers: { 'x-answer': 'yes' } });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^HTTP 200\n(?:.+\n)*x-answer: yes\n(?:.+\n)*\n$/);
  expect(await readFile(file, 'utf8')).toBe('{"ok":true}');
  const unwritable = await echo(['-d', '', '-o', home.folder]);
  expect(unwritable).toMatchObject({ exit: 2, stdout: '' });
  expect(unwritable.stderr).toContain('The daemon has answered');
});

it("accepts an intern's name instead of its id", async () => {
  for (const name of ['greeter', 'Žofie: 2nd bot']) {
    world.scripted.push(internsAre({}, { id: INTERN_ID, name }));
    const called = await ori('call', name, '/api/invoke', '-d', '{}');
    expect(called).toMatchObject({ exit: 0, stdout: '{"user":"acct_ada"}' });
  }
  world.scripted.push(internsAre({ id: 'int_a', name: 'twin' }, { id: 'int_b', name: 'twin' }));
  const twin = await ori('call', 'twin', '/api/invoke', '-d', '{}');
  expect(twin).toMatchObject({ exit: 2, stdout: '' });
  expect(twin.stderr).toContain('int_a, int_b');
  world.scripted.push(internsAre());
  expect(await ori('sign', 'nobody', '--path', '/', '-d', '')).toMatchObject({ exit: 4, stdout: '' });
});

it('accepts any id if the server does not list interns', async () => {
  const missing = { status: 404, body: { error: { code: 404, message: 'Not found.' } } };
  world.scripted.push(missing, missing, missing);
  world.requests.length = 0;
  expect(await ori('sign', 'no id', '--path', '/', '-d', '')).toMatchObject({ exit: 2, stdout: '' });
  await ori('sign', 'oddly-named', '--path', '/', '-d', '');
  expect(world.requests.at(-1)?.url).toBe('/v1/interns/oddly-named/daemon/sign');
});

it('shows one intern, by name or id', async () => {
  for (const named of ['greeter', INTERN_ID]) {
    world.scripted.push(internsAre({}, { id: INTERN_ID, name: 'greeter', hostname: 'd.example' }));
    const { exit, stdout } = await ori('interns', 'get', named);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^hostname +d\.example$/m);
  }
});

it('reports that an intern is not running if the API cannot sign for it', async () => {
  const metadata = { reason: 'configuration_error', retryable: false };
  const broken = { status: 500, body: { error: { code: 500, message: 'No key.', metadata } } };
  world.scripted.push(
    broken,
    internsAre({ id: INTERN_ID, status: 'failed', last_failure_message: 'No thread.' }),
  );
  const called = await ori(...CALL, '-d', '{}', '--json');
  expect(called).toMatchObject({ exit: 4, stdout: '' });
  const { error } = JSON.parse(called.stderr);
  expect(error).toMatchObject({ code: 'intern_not_running', status: 500 });
  expect(error.message).toContain('No thread.');
});

it('gives scripts the details of a failure of the daemon as fields', async () => {
  const headers = { 'retry-after': '7' };
  const refused = await echo(['-d', '', '--json'], { status: 503, headers });
  // Before it is a note: the daemon is asked what became of the call.
  const [line = ''] = refused.stderr.trimEnd().split('\n').slice(-1);
  expect(JSON.parse(line).error).toMatchObject({ retry_after: 7, status: 503 });
});

it('refers from a wrong option to the help of its command', async () => {
  expect((await ori('doctor', 'call', '--nonsense')).stderr).toContain('See: ori doctor call --help');
  expect((await ori('nonsense')).stderr).toContain('See: ori --help');
});

it.each([
  ['ahead', 3600],
  ['behind', -3600],
])('doctor call reports that the daemon’s clock is %s', async (word, seconds) => {
  await using daemon = await listen((req, res) => {
    req.resume();
    res.sendDate = false;
    const date = new Date(Date.now() + seconds * 1000).toUTCString();
    send(res, { status: 401, headers: { date }, body: { error: { code: 'proof_expired' } } });
  });
  const args = ['doctor', ...CALL, '-d', '{}', '--daemon', daemon.url];
  const [told, record] = [await ori(...args), JSON.parse((await ori(...args, '--json')).stdout)];
  expect(told.stdout).toContain(`1 hour ${word}`);
  expect(Math.abs(record.daemon_clock_ahead - seconds)).toBeLessThan(30);
});

it('api prints the status and headers of the answer, and sends headers of the person’s', async () => {
  const api = await listen((req, res) => send(res, { status: 200, body: { got: req.headers['x-mine'] } }));
  const env = { ORI_BASE_URL: `${api.url}/v1`, ORI_TOKEN: 'token' };
  const { stdout } = await runOri(home, ['api', '/interns', '-i', '-H', 'X-Mine: 1'], env);
  const own = await runOri(home, ['api', '/interns', '-H', 'Authorization: Bearer x'], env);
  await api.stop();
  expect(stdout).toMatch(/^HTTP 200\n[\s\S]*content-type: [\s\S]*\n\n\{\n {2}"got": "1"\n\}\n$/);
  expect(own).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('authorization cannot be set with -H'),
  });
});
