import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type AnswerKey, createAnswerKey } from '@ori/proof/answer-proof';
import { keepAnswers } from '@ori/verifier/answers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runOri } from '../../e2e/cli-in-process.ts';
import type { OriHome } from '../../e2e/cli-process.ts';
import { guarded, INTERN_ID, listen, useCliWorld } from '../../e2e/cli-world.ts';

// What becomes of callers when the keys of a daemon, or its version, or that of `ori`, change: nobody is locked out.
const world = await useCliWorld();
const seeds = { first: randomBytes(32), second: randomBytes(32) };
const [first, second] = [createAnswerKey(seeds.first), createAnswerKey(seeds.second)] as const;
const answer = (_req: IncomingMessage, res: ServerResponse) =>
  res.setHeader('content-type', 'text/plain').end('paid');

const proves = (key: Uint8Array) => guarded(world, answer, { answers: keepAnswers({ key }) });
const daemons = {
  first: await proves(seeds.first),
  second: await proves(seeds.second),
  keeping: await guarded(world, answer, { answers: keepAnswers() }),
  plain: await guarded(world, answer),
};
afterAll(() => Promise.all(Object.values(daemons).map((daemon) => daemon.stop())));
type Daemon = keyof typeof daemons;

const published: Record<string, readonly AnswerKey[]> = {
  none: [],
  first: [first],
  both: [first, second],
  second: [second],
};
function publish(name: keyof typeof published): void {
  const keys = (published[name] ?? []).map(({ x }) => ({ x }));
  Object.assign(world.jwks, { 'ori.answers': keys.length === 0 ? undefined : keys });
}

let home: OriHome;
beforeEach(async () => {
  publish('none');
  home = await world.newSignedIn();
});
beforeAll(() => async () => home?.[Symbol.asyncDispose]());

const call = (daemon: Daemon, url = daemons[daemon].url) =>
  runOri(home, ['call', INTERN_ID, '/api/pay', '--data', '{}', '--daemon', url, '--timeout', '5']);
const GIVEN = { exit: 0, stdout: 'paid' };
const BEGINS = `${INTERN_ID} proves its answers: from now on, this profile takes no others.`;
const ENDS = `${INTERN_ID} proves its answers no more, says the API.`;

type Step = readonly [publish: string, daemon: Daemon, told?: string, exit?: 9];
/** The rows of the table in ori-admin's README. */
const CHANGES: readonly (readonly [what: string, steps: readonly Step[]])[] = [
  ['an `ori` to which no key is known, as an older one, calls a newer daemon', [['none', 'first']]],
  [
    'a newer `ori` calls an older daemon',
    [
      ['none', 'keeping'],
      ['none', 'plain'],
    ],
  ],
  [
    'a daemon gets a key, which is published afterwards',
    [
      ['none', 'keeping'],
      ['none', 'first'],
      ['first', 'first'],
    ],
  ],
  [
    'a key is rotated',
    [
      ['first', 'first', BEGINS],
      ['both', 'first'],
      ['both', 'second'],
      ['second', 'second'],
    ],
  ],
  [
    'a key is lost, and another one published',
    [
      ['first', 'first', BEGINS],
      ['second', 'second'],
    ],
  ],
  [
    'a key is removed',
    [
      ['first', 'first', BEGINS],
      ['none', 'plain', ENDS],
      ['none', 'keeping'],
    ],
  ],
  [
    'a daemon is rolled back, and its key removed',
    [
      ['first', 'first', BEGINS],
      ['first', 'keeping', 'nothing proves it', 9],
      ['none', 'keeping', ENDS],
    ],
  ],
  [
    'a key is published before its daemon has it',
    [
      ['first', 'keeping', 'nothing proves it', 9],
      ['first', 'first'],
    ],
  ],
];

it('the README of ori-admin says of each change what callers get', async () => {
  const readme = await readFile(new URL('../../../services/ori-admin/README.md', import.meta.url), 'utf8');
  const section = readme.split('\n## ').find((text) => text.startsWith('Keys that prove answers\n')) ?? '';
  const rows = [...section.matchAll(/^\| (an? .+?) \| (.+?) \|$/gm)].map(([, what, get]) => [what, get]);
  expect(rows).toEqual(
    CHANGES.map(([what, steps]) => [
      what,
      steps.some(([, , , exit]) => exit === 9) ? expect.stringMatching(/^exit 9 until /) : 'their answers',
    ]),
  );
});

describe.each(CHANGES)('%s', (_name, steps) => {
  it('calls succeed, or say why not', async () => {
    for (const [name, daemon, told = '', exit] of steps) {
      publish(name);
      const ended = await call(daemon);
      expect(ended).toMatchObject(exit === undefined ? GIVEN : { exit, stdout: '' });
      expect(ended.stderr).toContain(told);
    }
  });
});

it('what the profile keeps needs no API that answers', async () => {
  publish('first');
  expect(await call('first')).toMatchObject(GIVEN);
  world.requests.length = 0;
  expect(await call('first')).toMatchObject({ ...GIVEN, stderr: '' });
  expect(world.requests.map(({ method }) => method)).toEqual(['POST']);
});

it('an API that says nothing that can be read ends nothing', async () => {
  publish('first');
  expect(await call('first')).toMatchObject(GIVEN);
  Object.assign(world.jwks, { 'ori.answers': 'none' });
  expect(await call('keeping')).toMatchObject({ exit: 9, stdout: '' });
  expect(await call('first')).toMatchObject(GIVEN);
});

it('a root that a profile states has to vouch for each proof of the signer', async () => {
  const file = join(home.environment['HOME'] ?? '', 'root.pub');
  await writeFile(file, JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: second.x }));
  expect(await runOri(home, ['profiles', 'root', file])).toMatchObject({ exit: 0 });
  world.requests.length = 0;
  const refused = await call('plain');
  // A server that alone fails to show the keys of answers would have any answer believed.
  expect(world.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  expect([refused.exit, refused.stderr]).toEqual([4, expect.stringContaining('key_set_unstated')]);
  expect(await runOri(home, ['profiles', 'root'])).toMatchObject({ stdout: `${second.x}\n` });
  await runOri(home, ['profiles', 'root', '--unset']);
  expect(await call('plain')).toMatchObject(GIVEN);
  const { exit, stderr } = await runOri(home, ['profiles', 'root', import.meta.filename]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('is not the public key of a root')]);
});

it('a head says nothing: a key that is not published proves nothing', async () => {
  publish('first');
  expect(await call('second')).toMatchObject({ exit: 9, stdout: '' });
});

it('ori doctor call says that, and how, an answer changed on the way', async () => {
  publish('first');
  await using hop = await listen(async (req, res) => {
    const { method = '', url = '', headers } = req;
    const { request } = await import('node:http');
    const passed = request(new URL(daemons.first.url), { method, path: url, headers, agent: false });
    req.pipe(passed).once('response', (back) => {
      const isCall = url === '/api/pay';
      res.writeHead(back.statusCode ?? 0, {
        ...back.headers,
        ...(isCall && { 'content-type': 'text/plain; charset=utf-8' }),
      });
      back.pipe(res);
    });
  });
  const args = ['doctor', 'call', INTERN_ID, '/api/pay', '--data', '{}', '--daemon', hop.url, '--json'];
  const { exit, stdout, stderr } = await runOri(home, args);
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: 'answer_changed',
    changes: [{ field: "answer's content-type", sent: 'text/plain', arrived: 'text/plain; charset=utf-8' }],
  });
  expect([exit, stderr]).toEqual([7, expect.stringContaining('its answer changed on the way')]);
});
