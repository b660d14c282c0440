import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { renderProofHeaders } from '@ori/proof';
import { clientOf, openLogWorld, untilSize } from '@ori/test-env/log-world';
import { type AuditLine, appendLines, auditLines } from '@ori/test-env/signer-lines';
import { afterAll, expect, test } from 'vitest';
import { run as admin } from '../../libs/admin/src/program.ts';
import { run as ori } from '../../libs/cli/src/program.ts';
import { Sink } from '../env/sink.ts';
import { askGo, noGo } from './go-verifier.ts';

const home = await mkdtemp(join(tmpdir(), 'ori-home-'));
afterAll(() => rm(home, { recursive: true }));

async function capture(program: typeof admin | typeof ori, args: readonly string[]) {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const exit = await program(args, {
    environment: { HOME: home },
    stdin: Readable.from([]),
    stdout,
    stderr,
    interrupted: new AbortController().signal,
    nowSeconds: () => Math.floor(Date.now() / 1000),
  });
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

/** A log of ten calls, and a user's files for one of them. */
async function openLoggedCalls() {
  const world = await openLogWorld();
  await writeFile(world.auditFile, '');
  const log = await world.start();
  const lines = auditLines(10);
  await appendLines(world.auditFile, lines);
  const policyText = `log ${log.vkeys.log} ${log.url}\nquorum none\n`;
  await untilSize(clientOf(log), 10);
  const policy = join(world.folder, 'log.policy');
  const headers = join(world.folder, 'proof.txt');
  await writeFile(policy, policyText);
  const { timestamp, subject, nonce, bodySha256 } = JSON.parse(lines[3]?.line ?? '');
  const signature = randomBytes(64);
  const proof = renderProofHeaders({
    timestamp,
    user: subject,
    signatureV1: signature,
    v2: { signature, nonce },
  });
  await writeFile(
    headers,
    Object.entries(proof)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  );
  const request = ['int_1', '--path', '/api/invoke', '--headers', headers, '--policy', policy];
  return { world, log, lines, policy, request, bodySha256: bodySha256 as string };
}

test('ori log verify finds a call in the log, and its .tlog-proof file verifies offline, also in Go', async () => {
  const { world, log, request, bodySha256, lines } = await openLoggedCalls();
  await using _ = world;
  const file = join(world.folder, 'call.tlog-proof');
  const verify = (digest: string, ...more: string[]) =>
    capture(ori, ['--json', 'log', 'verify', ...request, '--body-sha256', digest, ...more]);
  const online = await verify(bodySha256, '--out', file);
  expect(online.stderr).toBe('');
  expect(JSON.parse(online.stdout)).toMatchObject({ logged: true, index: 3 });
  await log.stop();
  expect((await verify(bodySha256, '--proof', file)).exit).toBe(0);
  const otherBody = createHash('sha256').update('another').digest('hex');
  expect((await verify(otherBody, '--proof', file)).exit).toBe(4);
  if (noGo !== undefined) return;
  const note = await readFile(file, 'utf8');
  const leaf = Buffer.from(/^extra (.*)$/m.exec(note)?.[1] ?? '', 'base64');
  expect(leaf.includes(Buffer.from(lines[3]?.v2 ?? []))).toBe(true);
  expect(await askGo(world.folder, [{ kind: 'proof', vkey: log.vkeys.log, note, leaf }])).toEqual(['ok']);
});

test.each([
  ['does not extend it', (lines: AuditLine[]) => [...lines.slice(2), ...auditLines(5)], 'inconsistent'],
  ['has fewer leaves', (lines: AuditLine[]) => lines.slice(0, 5), 'rolled_back'],
])(
  'ori log verify remembers the checkpoint of a log, and refuses one that %s',
  async (_what, others, why) => {
    const { world, log, request, lines, bodySha256 } = await openLoggedCalls();
    await using _ = world;
    const verify = ['--json', 'log', 'verify', ...request, '--body-sha256', bodySha256];
    expect((await capture(ori, verify)).exit).toBe(0);
    const port = new URL(log.url).port;
    await log.stop();
    // The same key under the same address shows another tree.
    await using fork = await openLogWorld();
    const shown = others(lines);
    await appendLines(fork.auditFile, shown);
    const forked = await fork.start({ LOG_KEY: world.env['LOG_KEY'] ?? '', LOG_PORT: port });
    await untilSize(clientOf(forked), shown.length);
    const { exit, stderr } = await capture(ori, verify);
    expect(exit).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'log_not_trusted' } });
    expect(stderr).toContain(why);
  },
);

test('ori log verify reports that a call is not in the log', async () => {
  const { world, request } = await openLoggedCalls();
  await using _ = world;
  const { exit, stderr } = await capture(ori, ['--json', 'log', 'verify', ...request, '--data', 'another']);
  expect(exit).toBe(4);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'proof_not_logged' } });
});

test.each([
  [
    'changed',
    (lines: string[]) => lines.with(4, (lines[4] ?? '').replace('usr_1', 'usr_2')),
    'audit.jsonl:5: changed: leaf 4',
  ],
  ['removed', (lines: string[]) => lines.toSpliced(4, 1), 'leaf 4: its line was removed'],
  ['moved', (lines: string[]) => lines.with(4, lines[5] ?? '').with(5, lines[4] ?? ''), 'moved: leaf 4'],
  [
    'added',
    (lines: string[]) => lines.toSpliced(4, 0, '{"event":"proof_issued"}'),
    'audit.jsonl:5: not in the log',
  ],
])('ori-admin audit verify finds a line that was %s', async (_what, rewrite, finding) => {
  const { world, lines, policy } = await openLoggedCalls();
  await using _ = world;
  const args = ['audit', 'verify', world.auditFile, '--policy', policy];
  const untouched = await capture(admin, args);
  expect(untouched).toMatchObject({ exit: 0, stdout: '' });
  await writeFile(
    world.auditFile,
    rewrite(lines.map(({ line }) => line))
      .map((line) => `${line}\n`)
      .join(''),
  );
  const { exit, stdout } = await capture(admin, args);
  expect(exit).toBe(4);
  expect(stdout).toContain(finding);
});
