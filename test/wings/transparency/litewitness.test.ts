import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { capturedLog } from '@ori/test-env/captured-log';
import { findProgram, openRoom } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { createLogClient } from '@ori/tlog/client';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';
import { EMPTY_ROOT } from '@ori/tlog/merkle';
import { parsePolicy } from '@ori/tlog/policy';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../../env/ports.ts';
import { openLogWorld, policyOf, untilSize } from './log-world.ts';
import { appendLines, auditLines } from './signer-lines.ts';

const [, section = ''] = readFileSync('services/log/README.md', 'utf8').split('## A witness\n');
const recipe = [...section.matchAll(/^ {4}(.*)$/gm)].map(([, line = '']) => line);
const linesWith = (...words: string[]) =>
  recipe.filter((line) => words.some((word) => line.startsWith(word))).join('\n');

const room = await openRoom('ori-litewitness');
afterAll(() => room[Symbol.asyncDispose]());

/** Builds litewitness, which needs Go 1.24 and its proxy: its SQLite, translated to Go, without optimizing it for long. */
function whyNotBuilt(): string | undefined {
  if (findProgram('ssh-agent') === undefined) return 'ssh-agent is not installed';
  const install = linesWith('go install filippo.io/torchwood/cmd/litewitness');
  const env = { ...process.env, GOBIN: room.directory, GOFLAGS: "'-gcflags=modernc.org/...=-N -l'" };
  try {
    execFileSync('bash', ['-euc', install], { env, stdio: 'pipe', timeout: 300_000 });
    return undefined;
  } catch (error) {
    return String(error).slice(0, 500);
  }
}
const why = whyNotBuilt();
if (why) console.log(`Not run: litewitness, because ${why}`);

/** A witness of the log with this key, by the commands of the README. @returns its line in a policy */
async function startLitewitness(origin: string, vkey: string): Promise<string> {
  const url = `http://localhost:${await freePort()}`;
  const commands = linesWith('ssh-keygen', 'key=', 'ssh-agent')
    .replace('\nssh-agent', '\nexec ssh-agent')
    .replace('-name', `-listen ${new URL(url).host} -name`);
  let own = '';
  const server = new ServerProcess({
    room,
    program: 'bash',
    arguments: ['-euc', `PATH=$PWD:$PATH\n${commands}`],
    ready: /msg=listening/,
    farewell: 'KILL',
    hear(line) {
      own = / vkey=(\S+)/.exec(line)?.[1] ?? own;
    },
  });
  await server.start();
  // What witnessctl writes for `add-log` and `add-key`.
  using database = new DatabaseSync(join(room.directory, 'litewitness.db'));
  const root = Buffer.from(EMPTY_ROOT).toString('base64');
  database.prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)').run(origin, root);
  database.prepare('INSERT INTO key (origin, key) VALUES (?, ?)').run(origin, vkey);
  return `witness w1 ${own} ${url}`;
}

test.skipIf(why)(
  'litewitness cosigns what extends the tree, and neither an older nor another tree under the key of the log',
  async () => {
    await using world = await openLogWorld();
    const { LOG_ORIGIN: origin = '', LOG_KEY = '' } = world.env;
    const vkeys = renderVkeys(createLogKeys(origin, LOG_KEY));
    const line = await startLitewitness(origin, vkeys.log);
    const text = `log ${vkeys.log}\nlog ${vkeys.logMlDsa}\n${line}\nquorum w1\n`;
    await writeFile(join(world.folder, 'policy'), text);
    const witnessed = { LOG_KEY, LOG_POLICY_FILE: join(world.folder, 'policy') };

    const clientOf = (url: string) =>
      createLogClient({ policy: parsePolicy(text, { requireMlDsa: true }), url });

    const { url } = await world.start(witnessed);
    for (const size of [5, 10]) {
      await appendLines(world.auditFile, auditLines(5));
      expect((await untilSize(clientOf(url), size)).witnessed.has('w1')).toBe(true);
    }
    await using older = await openLogWorld();
    await expect(older.start(witnessed)).rejects.toMatchObject({ code: 'witness_is_ahead' });
    for (const size of [10, 12]) {
      await using other = await openLogWorld();
      await appendLines(other.auditFile, auditLines(size));
      const unwitnessed = await other.start({ LOG_KEY });
      await untilSize(createLogClient({ policy: policyOf(unwitnessed) }), size);
      await unwitnessed.stop();
      const { log, lines } = capturedLog();
      const { url } = await other.start(witnessed, { log });
      expect(lines.find(({ witness }) => witness === 'w1')).toMatchObject({
        err: { message: 'the witness answered 422' },
      });
      await expect(clientOf(url).latest()).rejects.toMatchObject({ code: 'quorum_missing' });
    }
  },
);
