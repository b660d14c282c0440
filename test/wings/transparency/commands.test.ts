import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { renderJwkSet, renderProof, signingInputV2 } from '@ori/proof';
import { createSigningKey } from '@ori/proof/signing';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { run as ori } from '../../../services/ori/src/program.ts';
import { run as admin } from '../../../services/ori-admin/src/program.ts';
import { listen, send } from '../../e2e/cli-world.ts';
import { Sink } from '../../env/sink.ts';
import { clientOf, openLogWorld, untilSize } from './log-world.ts';
import { type AuditLine, appendLines, auditLines } from './signer-lines.ts';

const home = await mkdtemp(join(tmpdir(), 'ori-home-'));
afterAll(() => rm(home, { recursive: true }));

const key = createSigningKey(randomBytes(32));
let published = renderJwkSet([key]);
/** The API: the key set of int_1, and a list in which it is named greeter. */
const api = await listen((req, res) => {
  if (req.url === '/v1/interns/int_1/daemon/jwks.json') return send(res, { status: 200, body: published });
  const intern = { id: 'int_1', name: 'greeter', status: 'running', hostname: null, model: null };
  send(res, { status: 200, body: { data: [intern], has_more: false } });
});
afterAll(() => api.stop());
afterEach(() => {
  published = renderJwkSet([key]);
  vi.useRealTimers();
});

async function capture(program: typeof admin | typeof ori, args: readonly string[]) {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const exit = await program(args, {
    environment: { HOME: home, ORI_BASE_URL: `${api.url}/v1`, ORI_TOKEN: 'token' },
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
  const policyText = `log ${log.vkeys.log} ${log.url}\nlog ${log.vkeys.logMlDsa}\nquorum none\n`;
  await untilSize(clientOf(log), 10);
  const policy = join(world.folder, 'log.policy');
  const headers = join(world.folder, 'proof.txt');
  await writeFile(policy, policyText);
  const { timestamp, subject, nonce, bodySha256 } = JSON.parse(lines[3]?.line ?? '');
  const named = { internId: 'int_1', timestamp, user: subject, nonce, bodySha256 };
  const signature = key.sign(signingInputV2({ ...named, method: 'POST', path: '/api/invoke' }));
  const proof = renderProof({
    timestamp,
    user: subject,
    nonce,
    signatures: ([1, 2] as const).map((version) => ({ version, signature })),
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

test('ori log verify finds a call in the log, and its .tlog-proof file verifies offline', async () => {
  const { world, log, request, bodySha256 } = await openLoggedCalls();
  await using _ = world;
  const file = join(world.folder, 'call.tlog-proof');
  const verify = (digest: string, ...more: string[]) =>
    capture(ori, ['--json', 'log', 'verify', ...request, '--body-sha256', digest, ...more]);
  const unwritable = await verify(bodySha256, '--out', world.folder);
  expect(unwritable).toMatchObject({ exit: 2, stdout: '' });
  expect(unwritable.stderr).not.toContain('daemon');
  const online = await verify(bodySha256, '--out', file);
  expect(online.stderr).toBe('');
  expect(JSON.parse(online.stdout)).toMatchObject({ logged: true, index: 3 });
  await log.stop();
  expect((await verify(bodySha256, '--proof', file)).exit).toBe(0);
  expect((await verify(bodySha256, '--proof', file, '--require-ml-dsa')).exit).toBe(0);
  const signedOnce = join(world.folder, 'once.tlog-proof');
  const lastLine = /— [^\n]+\n$/;
  for (let text = await readFile(file, 'utf8'); lastLine.test(text); text = text.replace(lastLine, ''))
    if (text.match(/^— /gm)?.length === 1) await writeFile(signedOnce, text);
  expect((await verify(bodySha256, '--proof', signedOnce)).exit).toBe(0);
  const refused = await verify(bodySha256, '--proof', signedOnce, '--require-ml-dsa');
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'log_not_trusted' } });
  const otherBody = createHash('sha256').update('another').digest('hex');
  const other = await verify(otherBody, '--proof', file);
  expect(other.exit).toBe(2);
  expect(JSON.parse(other.stderr)).toMatchObject({ error: { code: 'proof_not_for_call' } });
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

test('ori log verify finds the intern by its name', async () => {
  const { world, request, bodySha256 } = await openLoggedCalls();
  await using _ = world;
  const named = request.with(0, 'greeter');
  expect((await capture(ori, ['log', 'verify', ...named, '--body-sha256', bodySha256])).exit).toBe(0);
});

test.each<[string, (request: string[]) => string[]]>([
  ['path', (request) => request.with(2, '/api/other')],
  ['body', (request) => [...request.slice(0, -1), createHash('sha256').update('another').digest('hex')]],
])('ori log verify raises no alarm about a proof that is not for the %s', async (_what, mistaken) => {
  const { world, request, bodySha256 } = await openLoggedCalls();
  await using _ = world;
  const args = mistaken([...request, '--body-sha256', bodySha256]);
  const { exit, stderr } = await capture(ori, ['--json', 'log', 'verify', ...args]);
  expect({ exit, ...JSON.parse(stderr) }).toMatchObject({ exit: 2, error: { code: 'proof_not_for_call' } });
});

test('ori log verify reports that a signed call is not in the log, and says if it could not check the signature', async () => {
  const { world, request, bodySha256, log } = await openLoggedCalls();
  await using _ = world;
  await using other = await openLogWorld();
  await writeFile(other.auditFile, '');
  await appendLines(other.auditFile, auditLines(1));
  const empty = await other.start({ LOG_KEY: world.env['LOG_KEY'] ?? '' });
  await untilSize(clientOf(empty), 1);
  const policy = join(other.folder, 'log.policy');
  await writeFile(policy, `log ${log.vkeys.log} ${empty.url}\nquorum none\n`);
  const verify = ['log', 'verify', ...request.with(-1, policy), '--body-sha256', bodySha256];
  const elsewhere = await capture(ori, verify);
  expect(elsewhere.exit).toBe(4);
  expect(elsewhere.stderr).toMatch(/no entry[\s\S]*signing key was used elsewhere/);
  published = renderJwkSet([]);
  const unchecked = await capture(ori, verify);
  expect(unchecked.exit).toBe(4);
  expect(unchecked.stderr).not.toContain('used elsewhere');
});

test.each([
  ['the address of something else', () => `${api.url}/log`, 2, 'not_a_log'],
  ['an address where nothing listens', () => 'http://127.0.0.1:9', 6, 'unreachable'],
])('ori log verify does not call %s a log that cannot be trusted', async (_what, url, exit, code) => {
  const { world, request, bodySha256, log, policy } = await openLoggedCalls();
  await using _ = world;
  await writeFile(policy, `log ${log.vkeys.log} ${url()}\nquorum none\n`);
  const result = await capture(ori, ['--json', 'log', 'verify', ...request, '--body-sha256', bodySha256]);
  expect({ exit: result.exit, ...JSON.parse(result.stderr) }).toMatchObject({ exit, error: { code } });
});

test.each<[string, (request: string[]) => string[]]>([
  ['verify', (request) => request],
  ['keys', ([intern = '', ...options]) => [intern, ...options.slice(-4, -2)]],
])(
  'ori log %s does not call a log that stops answering one that cannot be trusted',
  async (command, args) => {
    const { world, request, bodySha256, log, policy } = await openLoggedCalls();
    await using _ = world;
    const checkpoint = await (await fetch(`${log.url}/checkpoint`)).text();
    await using busy = await listen((req, res) =>
      req.url === '/log/checkpoint' ? void res.end(checkpoint) : send(res, { status: 503, body: {} }),
    );
    await writeFile(policy, `log ${log.vkeys.log} ${busy.url}/log\nquorum none\n`);
    const asked = args([...request, '--body-sha256', bodySha256]);
    const { exit, stderr } = await capture(ori, ['--json', 'log', command, ...asked]);
    expect({ exit, ...JSON.parse(stderr) }).toMatchObject({ exit: 6, error: { code: 'unreachable' } });
  },
);

test('ori log verify refuses a policy without a log', async () => {
  const { world, request, bodySha256, policy } = await openLoggedCalls();
  await using _ = world;
  await writeFile(policy, 'quorum none\n');
  expect((await capture(ori, ['log', 'verify', ...request, '--body-sha256', bodySha256])).exit).toBe(2);
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
  expect((await capture(admin, [...args, '--require-ml-dsa'])).exit).toBe(0);
  const signedOnce = join(world.folder, 'once.policy');
  await writeFile(signedOnce, (await readFile(policy, 'utf8')).replace(/^log \S+\n/m, ''));
  expect((await capture(admin, [...args.with(-1, signedOnce)])).exit).toBe(0);
  expect((await capture(admin, [...args.with(-1, signedOnce), '--require-ml-dsa'])).exit).not.toBe(0);
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

test('ori-admin audit verify reads compressed files, and takes no line for added that is newer than the tree', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { world, log, lines, policy } = await openLoggedCalls();
  await using _ = world;
  await writeFile(policy, `witness complete ${log.vkeys.complete}\n`, { flag: 'a' });
  const [rotated, current] = ['older.jsonl.gz', 'newer.jsonl'].map((name) => join(world.folder, name));
  const textOf = (some: readonly AuditLine[]) => some.map(({ line }) => `${line}\n`).join('');
  await writeFile(rotated ?? '', gzipSync(textOf(lines.slice(0, 5))));
  const rest = lines.slice(5);
  const verify = async (...some: AuditLine[]) => {
    await writeFile(current ?? '', textOf(some));
    return capture(admin, ['audit', 'verify', rotated ?? '', current ?? '', '--policy', policy]);
  };
  const [newer, older, ahead] = [0, -60_000, 60_000].flatMap((ms) => auditLines(1, Date.now() + ms)) as [
    AuditLine,
    AuditLine,
    AuditLine,
  ];
  const whole = await verify(...rest, newer);
  expect(whole).toMatchObject({ exit: 0, stdout: '' });
  expect(whole.stderr).toContain('11 lines, 1 newer than the tree; 10 leaves, 0 without a line here.');
  for (const added of [
    [newer, ...rest],
    [...rest, older],
    [...rest, ahead],
  ]) {
    const { exit, stdout } = await verify(...added);
    expect([exit, stdout.match(/^.*\.jsonl:\d+: not in the log$/gm)?.length]).toEqual([4, 1]);
  }
});

/** The line of a proof of version 1 alone, which has no nonce. */
function asV1({ line }: AuditLine): string {
  const { nonce: _nonce, method: _method, path: _path, ...facts } = JSON.parse(line);
  return `${JSON.stringify({ ...facts, versions: [1] })}\n`;
}

test('ori-admin audit verify takes no line of version 1 for another one', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using world = await openLogWorld();
  const [first = '', second = ''] = auditLines(2).map(asV1);
  await writeFile(world.auditFile, first + second);
  const log = await world.start();
  await untilSize(clientOf(log), 2);
  const policy = join(world.folder, 'log.policy');
  const file = join(world.folder, 'copy.jsonl');
  await writeFile(
    policy,
    `log ${log.vkeys.log} ${log.url}\nwitness complete ${log.vkeys.complete}\nquorum none\n`,
  );
  const verify = async (text: string) => {
    await writeFile(file, text);
    return capture(admin, ['audit', 'verify', file, '--policy', policy]);
  };
  const newer = auditLines(1).map(asV1).join('');
  expect(await verify(first + second + newer)).toMatchObject({ exit: 0, stdout: '' });
  const older = auditLines(1, Date.now() - 60_000)
    .map(asV1)
    .join('');
  const { exit, stdout } = await verify(first + older);
  expect(exit).toBe(4);
  expect(stdout).toContain('copy.jsonl:2: not in the log');
  expect(stdout).toContain('leaf 1: its line was removed');
});

test('ori-admin audit verify says of which compressed file it cannot read all', async () => {
  const { world, lines, policy } = await openLoggedCalls();
  await using _ = world;
  const whole = gzipSync(lines.map(({ line }) => `${line}\n`).join(''));
  const file = join(world.folder, 'audit.jsonl.gz');
  for (const damaged of [whole.subarray(0, -9), Buffer.from('no gzip')]) {
    await writeFile(file, damaged);
    const { exit, stdout, stderr } = await capture(admin, ['audit', 'verify', file, '--policy', policy]);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`Cannot decompress ${JSON.stringify(file)}`);
  }
});
