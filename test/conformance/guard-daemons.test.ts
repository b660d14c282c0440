import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isPath } from '@ori/proof';
import { BODY, FORMS } from '@ori/test-env/guard-forms';
import { type GuardWorld, openGuardWorld } from '@ori/test-env/guard-world';
import { freePort } from '@ori/test-env/ports';
import { rawClient } from '@ori/test-env/raw-client';
import { openRoom, type Room } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, 'guard-daemons');

interface Language {
  readonly name: string;
  readonly program: string;
  /** Succeeds where the language is installed. */
  readonly probe: readonly string[];
  readonly arguments: readonly string[];
  /** Makes the program first: a command of `program`. */
  readonly build?: (binary: string) => readonly string[];
}

const LANGUAGES: readonly Language[] = [
  { name: 'Python', program: 'python3', probe: ['--version'], arguments: [join(FOLDER, 'daemon.py')] },
  {
    name: 'Python with Flask',
    program: 'python3',
    probe: ['-c', 'import flask'],
    arguments: [join(FOLDER, 'flask_daemon.py')],
  },
  { name: 'Node', program: 'node', probe: ['--version'], arguments: [join(FOLDER, 'daemon.js')] },
  {
    name: 'C',
    program: 'cc',
    probe: ['--version'],
    arguments: [],
    build: (binary) => ['-o', binary, join(FOLDER, 'daemon.c')],
  },
];

async function start(language: Language, room: Room): Promise<string> {
  const port = await freePort();
  const binary = join(room.directory, 'daemon');
  if (language.build) {
    const { status, stderr } = spawnSync(language.program, language.build(binary));
    expect(status, String(stderr)).toBe(0);
  }
  await new ServerProcess({
    room,
    program: language.build ? binary : language.program,
    arguments: language.arguments,
    ready: /^ready$| Development Server .* started$/,
    farewell: 'KILL',
    environment: { ...(process.env as Record<string, string>), PORT: String(port) },
  }).start();
  return `http://127.0.0.1:${port}`;
}

/** The first answer of the guard to these bytes: with its body, which ends with a brace, if it is 200. */
async function answerTo(port: number, bytes: string): Promise<string> {
  using client = await rawClient(port);
  client.socket.write(bytes, 'latin1');
  const answered = client.until(/^HTTP\/1.1 (?:[345]|200.*\r\n\r\n.*\})/ms);
  return await answered.catch(() => client.received());
}

/** The daemon numbers its calls, so that one that no answer shows is found, too. */
async function expectNoneSeenDifferently({ port, proofLines }: GuardWorld): Promise<void> {
  const call = { body: BODY, user: 'user_ada' };
  let calls = 1;
  const seen = (path: string) => `${calls + 1} POST ${path} user_ada ${BODY}`;
  for (const { path, bytes } of FORMS) {
    const answer = await answerTo(port, bytes(isPath(path) ? proofLines({ ...call, path }) : ''));
    const isServed = / 200 OK\r\n/.test(answer);
    expect(answer.includes(seen(path)), `${bytes('')}\n${answer}`).toBe(isServed);
    if (isServed) calls += 1;
    expect(await answerTo(port, bytes('')), bytes('')).not.toMatch(/ 200 OK\r\n/);
  }
  expect(FORMS.length).toBeGreaterThanOrEqual(300);
  expect(calls).toBeGreaterThan(200);
  const last = FORMS[0]?.bytes(proofLines({ ...call, path: '/a' })) ?? '';
  expect(await answerTo(port, last)).toContain(seen('/a'));
}

for (const language of LANGUAGES) {
  const isHere = spawnSync(language.program, language.probe).status === 0;
  if (!isHere)
    console.warn(
      `Skipped: ${language.name} is not installed (${language.program} ${language.probe.join(' ')}).`,
    );

  test.skipIf(!isHere)(
    `a daemon in ${language.name} sees each call as the guard verified it, once`,
    async () => {
      await using room = await openRoom('ori-guard-daemon');
      await using world = await openGuardWorld({ env: { GUARD_DAEMON_URL: await start(language, room) } });
      const call = { path: '/api/%2e%2e/in;voke//x', body: '{"a":1}', user: 'user_ada' };
      const lines = 'x-ori-verified-user: intruder\r\nX_Ori_Verified_User: intruder\r\n';
      const request = world.signed({ ...call, lines });
      const saw = async (bytes: string) => {
        using client = await rawClient(world.port);
        client.send(bytes);
        return await client.until(/\{.*\}/);
      };
      expect(await saw(request)).toContain(`POST ${call.path} user_ada {"a":1}`);
      expect(await saw(request)).toContain('nonce_replayed');
      expect(await saw(`POST /a HTTP/1.1\r\nHost: d\r\nContent-Length: 2\r\n${lines}\r\n{}`)).toContain(
        'proof_missing',
      );
      await expectNoneSeenDifferently(world);
    },
  );
}
