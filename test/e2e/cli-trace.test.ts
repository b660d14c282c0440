import { afterAll, beforeEach, expect, it } from 'vitest';
import { INTERN_ID, listen, openSignedInWorld, send } from './cli-world.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const GIVEN = `00-${ID}-00f067aa0ba902b7-01`;
const FRESH = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-03$/;
const { world, home } = await openSignedInWorld();
/** The `traceparent` of each call that the daemon got. */
const calls: unknown[] = [];
const daemon = await listen((req, res) => {
  calls.push(req.headers['traceparent']);
  send(res, { status: req.url === '/fails' ? 500 : 200 });
});
afterAll(() => daemon.stop());
beforeEach(() => {
  world.scripted.length = 0;
  world.requests.length = 0;
  calls.length = 0;
});

const call = (
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  path = '/api/invoke',
) => home.ori(['call', INTERN_ID, path, '--data', '{}', '--daemon', daemon.url, ...args], { env });
const signings = () =>
  world.requests.filter(({ url }) => url.endsWith('/sign')).map(({ headers }) => headers['traceparent']);

it('sends the signing request and the call with one new trace, and prints its id with --verbose', async () => {
  const { stderr } = await call(['--verbose']);
  expect(calls).toEqual([expect.stringMatching(FRESH)]);
  expect(signings()).toEqual(calls);
  expect(stderr).toContain(`Trace ${String(calls[0]).slice(3, 35)}\n`);
  await call();
  expect(calls[1]).not.toBe(calls[0]);
});

it('continues the trace of TRACEPARENT, and -H takes precedence', async () => {
  const other = GIVEN.replace('4bf9', 'beef');
  await call([], { TRACEPARENT: GIVEN });
  await call(['-H', `traceparent: ${other}`], { TRACEPARENT: GIVEN });
  expect(calls).toEqual([GIVEN, other]);
  expect(signings()).toEqual(calls);
});

it.each([
  ['an empty TRACEPARENT', ''],
  ['a malformed one', 'canary-secret'],
])('replaces %s by a new trace', async (_what, TRACEPARENT) => {
  expect(await call(['--verbose'], { TRACEPARENT })).toMatchObject({
    exit: 0,
    stderr: expect.not.stringContaining('canary'),
  });
  expect(calls).toEqual([expect.stringMatching(FRESH)]);
});

it('names the trace in the failures of the API and of the daemon', async () => {
  const env = { TRACEPARENT: GIVEN };
  const failed = {
    status: 400,
    headers: { 'x-request-id': 'req-7' },
    body: { error: { code: 400, message: 'No.' } },
  };
  world.scripted.push(failed, failed);
  expect((await call([], env)).stderr).toContain(`(400, request req-7, trace ${ID})`);
  const errorOf = ({ stderr }: { stderr: string }) =>
    JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;
  expect(errorOf(await call(['--json'], env))).toMatchObject({ request_id: 'req-7', trace_id: ID });
  expect(errorOf(await call(['--json'], env, '/fails'))).toMatchObject({
    code: 'daemon_failed',
    trace_id: ID,
  });
});
