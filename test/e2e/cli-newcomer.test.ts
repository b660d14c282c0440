import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findProgram } from '../env/room.ts';
import { runOri } from './cli-in-process.ts';
import { ORI } from './cli-process.ts';
import { INTERN_ID, openSignedInWorld } from './cli-world.ts';

const { world, home } = await openSignedInWorld();
const env = { ORI_BASE_URL: world.baseUrl, ORI_DAEMON_URL: world.daemonUrl };
const ori = (args: readonly string[], more: Record<string, string> = {}) =>
  runOri(home, args, { ...env, ...more });
const codeOf = (stderr: string) => JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error.code;

it('has the commands that other tools have: help, version, show', async () => {
  expect((await ori(['help', 'doctor', 'call'])).stdout).toBe(
    (await ori(['doctor', 'call', '--help'])).stdout,
  );
  expect((await ori(['help'])).stdout).toBe((await ori(['--help'])).stdout);
  expect(await ori(['help', 'nothing'])).toMatchObject({ exit: 2, stdout: '' });
  expect(await ori(['version'])).toEqual(await ori(['--version']));
  world.scripted.push({ status: 200, body: { data: [intern('int_1')], has_more: false } });
  expect((await ori(['interns', 'show', 'int_1'])).stdout).toContain('int_1');
});

it('says that a name needs a scope, instead of that there is no such intern', async () => {
  await using other = await world.newHome();
  await world.signIn(other, { args: ['--scope', 'vault:read'] });
  world.scripted.push({
    status: 403,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="interns"' },
    body: { error: { code: 403, message: 'No.' } },
  });
  const args = ['--json', 'call', 'greeter', '/api/invoke', '--data', '{}'];
  const { exit, stderr } = await runOri(other, args, env);
  expect([exit, codeOf(stderr)]).toEqual([4, 'name_not_resolved']);
  expect(stderr).toContain('name it in --scope');
});

it('does not sign an empty body that nobody asked for', async () => {
  world.requests.length = 0;
  expect((await ori(['call', INTERN_ID, '/api/invoke'])).exit).toBe(2);
  expect((await ori(['sign', INTERN_ID, '--path', '/api/invoke'])).exit).toBe(2);
  expect(world.requests).toEqual([]);
  expect((await ori(['sign', INTERN_ID, '--path', '/api/invoke', '--file', '-'])).exit).toBe(0);
});

it.each(['XDG_CONFIG_HOME', 'XDG_DATA_HOME'])(
  'finds a folder of %s that it cannot write before the sign-in',
  async (name) => {
    const given = { [name]: '/dev/null/folder', ORI_SESSION_STORE: '' };
    const { exit, stderr } = await ori(['login', '--no-browser'], given);
    expect(exit).toBe(1);
    expect(stderr).toContain('/dev/null/folder');
    expect(stderr).not.toContain('sign in:');
  },
);

it('says that it could not write', async () => {
  const command = `'${process.execPath}' '${ORI}' --help > /dev/full`;
  const failure = await promisify(execFile)('sh', ['-c', command]).catch((error) => error);
  expect(failure).toMatchObject({ code: 1, stderr: 'ori: Cannot write to stdout: no space is left.\n' });
});

function intern(id: string) {
  return { id, name: id, status: 'running', hostname: null, model: null };
}

it.skipIf(findProgram('jq') === undefined)('prints what jq makes of an answer, or what jq says', async () => {
  const list = { status: 200, body: { data: [intern('int_1'), intern('int_2')], has_more: false } };
  world.scripted.push(list, list);
  const names = await ori(['api', 'interns', '--paginate', '--jq', '.[].name']);
  expect([names.exit, names.stdout]).toEqual([0, 'int_1\nint_2\n']);
  const wrong = await ori(['api', 'interns', '--jq', '.data[']);
  expect([wrong.exit, wrong.stdout, wrong.stderr]).toEqual([
    2,
    '',
    expect.stringMatching(/jq: error: syntax error/),
  ]);
  expect(await ori(['api', 'interns', '-i', '--jq', '.'])).toMatchObject({ exit: 2, stdout: '' });
});

it('makes any request to the API, and reads all pages of a list', async () => {
  world.scripted.push({ status: 200, body: { hello: 'world' } });
  const one = await ori(['api', '/hello', '-X', 'get', '-f', 'limit=2']);
  expect(JSON.parse(one.stdout)).toEqual({ hello: 'world' });
  expect(world.requests.at(-1)).toMatchObject({ method: 'GET', url: '/v1/hello?limit=2' });

  world.scripted.push(
    { status: 200, body: { data: [intern('int_1')], has_more: true, next_cursor: 'c1' } },
    { status: 200, body: { data: [intern('int_2')], has_more: false } },
    { status: 200, body: { data: [1, 2], total_count: 3 } },
    { status: 200, body: { data: [3], total_count: 3 } },
  );
  const all = JSON.parse((await ori(['api', 'interns', '--paginate'])).stdout);
  expect(all.map(({ id }: { id: string }) => id)).toEqual(['int_1', 'int_2']);
  expect(world.requests.at(-1)?.url).toBe('/v1/interns?starting_after=c1');
  expect(JSON.parse((await ori(['api', 'byok', '--paginate'])).stdout)).toEqual([1, 2, 3]);
  expect(world.requests.at(-1)?.url).toBe('/v1/byok?offset=2');
  world.scripted.push(
    { status: 200, body: { data: [6, 7], total_count: 8 } },
    { status: 200, body: { data: [8], total_count: 8 } },
  );
  expect(JSON.parse((await ori(['api', 'byok?offset=5', '--paginate'])).stdout)).toEqual([6, 7, 8]);
  expect(world.requests.at(-1)?.url).toBe('/v1/byok?offset=7');

  world.scripted.push({ status: 200 });
  await ori(['api', '/guardrails/1', '-X', 'patch', '-f', 'name=none', '-f', 'limit_usd=5']);
  expect(world.requests.at(-1)).toMatchObject({ method: 'PATCH', body: '{"name":"none","limit_usd":5}' });

  world.scripted.push({ status: 200 }, { status: 200, body: { data: [] } });
  await ori(['api', '/guardrails', '-f', 'name=none']);
  expect(world.requests.at(-1)).toMatchObject({ method: 'POST', body: '{"name":"none"}' });
  await ori(['api', '/guardrails', '--paginate', '-f', 'limit=5']);
  expect(world.requests.at(-1)).toMatchObject({ method: 'GET', url: '/v1/guardrails?limit=5' });

  world.scripted.push({ status: 403, body: { error: { code: 403, message: 'No.' } } });
  expect(await ori(['api', '/hello'])).toMatchObject({ exit: 4, stdout: '' });
  world.scripted.push({ status: 307, headers: { location: '/elsewhere' } });
  expect(await ori(['api', '/hello'])).toMatchObject({ exit: 4, stdout: '' });
});

it('sends the token nowhere but below the base address', async () => {
  world.requests.length = 0;
  for (const path of ['https://elsewhere.example/v1/x', '../../x', '//elsewhere.example/x', '/../x']) {
    await ori(['api', path]);
  }
  for (const path of ['', '/v1x', '/v1/../x'])
    expect((await ori(['headers', 'GET', new URL(world.baseUrl).origin + path])).exit).toBe(2);
  for (const { url } of world.requests) expect(url).toMatch(/^\/v1\//);
});

it('prints a token, and the headers of a request', async () => {
  const headers = async () => (await ori(['headers', 'GET', `${world.baseUrl}/interns`])).stdout;
  const { stdout: token } = await ori(['token']);
  expect(await headers()).toMatch(/^authorization: DPoP (.+)\ndpop: ey.+\n$/);
  expect(await headers()).toContain(token);
  expect((await ori(['headers', 'GET', 'https://elsewhere.example/'])).exit).toBe(2);
});
