import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { freePort } from '@ori/test-env/ports';
import { rawClient } from '@ori/test-env/raw-client';
import { openRoom, type Room } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, 'guard-daemons');

interface Language {
  readonly name: string;
  readonly program: string;
  readonly version: string;
  readonly arguments: readonly string[];
  /** Makes the program first: a command of `program`. */
  readonly build?: (binary: string) => readonly string[];
}

const LANGUAGES: readonly Language[] = [
  { name: 'Python', program: 'python3', version: '--version', arguments: [join(FOLDER, 'daemon.py')] },
  { name: 'Perl', program: 'perl', version: '-v', arguments: [join(FOLDER, 'daemon.pl')] },
  { name: 'Ruby', program: 'ruby', version: '--version', arguments: [join(FOLDER, 'daemon.rb')] },
  { name: 'Node', program: 'node', version: '--version', arguments: [join(FOLDER, 'daemon.js')] },
  { name: 'Java', program: 'java', version: '-version', arguments: [join(FOLDER, 'Daemon.java')] },
  {
    ...{ name: 'Go', program: 'go', version: 'version', arguments: [] },
    build: (binary) => ['build', '-o', binary, join(FOLDER, 'daemon.go')],
  },
  {
    ...{ name: 'C', program: 'cc', version: '--version', arguments: [] },
    build: (binary) => ['-o', binary, join(FOLDER, 'daemon.c')],
  },
];

async function start(language: Language, room: Room): Promise<string> {
  const port = await freePort();
  const binary = join(room.directory, 'daemon');
  if (language.build) {
    const env = { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off' };
    const { status, stderr } = spawnSync(language.program, language.build(binary), { env });
    expect(status, String(stderr)).toBe(0);
  }
  await new ServerProcess({
    room,
    program: language.build ? binary : language.program,
    arguments: language.arguments,
    ready: /^ready$/,
    farewell: 'KILL',
    environment: { ...(process.env as Record<string, string>), PORT: String(port) },
  }).start();
  return `http://127.0.0.1:${port}`;
}

for (const language of LANGUAGES) {
  const isHere = spawnSync(language.program, [language.version]).status === 0;
  if (!isHere) console.warn(`Skipped: ${language.name} is not installed (${language.program}).`);

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
        await expect.poll(() => client.received(), { timeout: 10_000 }).toMatch(/\{.*\}/);
        return client.received();
      };
      expect(await saw(request)).toContain(`POST ${call.path} user_ada {"a":1}`);
      expect(await saw(request)).toContain('nonce_replayed');
      expect(await saw(`POST /a HTTP/1.1\r\nHost: d\r\nContent-Length: 2\r\n${lines}\r\n{}`)).toContain(
        'proof_missing',
      );
    },
  );
}
