import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capturedLog } from '@ori/test-env/captured-log';
import { startTestWitness } from '@ori/test-env/log-witness';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';
import { renderNote } from '@ori/tlog/note';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { signHead } from '../sign-head.ts';
import { loadWitnessConfig } from './config.ts';
import { startWitness } from './start-witness.ts';

const ORIGIN = 'log.example/log';
const keys = createLogKeys(ORIGIN, Buffer.alloc(32, 7).toString('base64'));
const ORIGIN_HASH = createHash('sha256').update(ORIGIN).digest('hex');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-start-witness-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function started() {
  const policy = join(folder, 'policy');
  const vkeys = renderVkeys(keys);
  await writeFile(policy, `log ${vkeys.log}\nlog ${vkeys.logMlDsa}\nquorum none\n`);
  const config = loadWitnessConfig({
    WITNESS_NAME: 'witness.example/w1',
    WITNESS_KEY: randomBytes(32).toString('base64'),
    WITNESS_POLICY_FILE: policy,
    WITNESS_FOLDER: join(folder, 'new/witness'),
    WITNESS_PORT: '0',
    WITNESS_OPS_PORT: '0',
  });
  const { log, lines } = capturedLog();
  const witness = await startWitness({ ...config, shutdownIdleMs: 0 }, { log });
  const opsUrl = String(lines.find(({ opsUrl }) => opsUrl !== undefined)?.['opsUrl']);
  return {
    ...witness,
    lines,
    metrics: async () => (await fetch(`${opsUrl}/metrics`)).text(),
    add: (body: string) => fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body }),
    [Symbol.asyncDispose]: witness.stop,
  };
}

const checkpoint = (size: number, name: string) =>
  renderNote(signHead(keys, { size, root: createHash('sha256').update(name).digest() }));

it('answers as tlog-witness says, and shows what it cosigned', async () => {
  await using witness = await started();
  const made = await witness.add(`old 0\n\n${checkpoint(5, 'one')}`);
  const cosignatures = await made.text();
  expect(cosignatures.trimEnd().split('\n')).toHaveLength(2);
  expect([made.status, made.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(made.headers.get('content-length')).toBe(String(Buffer.from(cosignatures).length));
  const other = await witness.add(`old 3\n\n${checkpoint(5, 'one')}`);
  expect([other.status, other.headers.get('content-type'), await other.text()]).toEqual([
    ...[409, 'text/x.tlog.size', '5\n'],
  ]);
  const shown = await fetch(`${witness.url}/${ORIGIN_HASH}/checkpoint`);
  const note = await shown.text();
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(shown.headers.get('content-length')).toBe(String(Buffer.from(note).length));
  expect(note.endsWith(cosignatures)).toBe(true);
});

it.each([
  ['a submission that is none', '/add-checkpoint', { method: 'POST', body: 'hello' }, 400],
  ['a body of more than 64 KiB', '/add-checkpoint', { method: 'POST', body: 'x'.repeat(64 * 1024 + 1) }, 413],
  ['another method', '/add-checkpoint', {}, 405],
  ['a checkpoint that it does not have', `/${ORIGIN_HASH}/checkpoint`, {}, 404],
  ['the checkpoint of an origin by its name', `/${encodeURIComponent(ORIGIN)}/checkpoint`, {}, 404],
  ['any other path', '/', {}, 404],
])('refuses %s', async (_what, path, init, status) => {
  await using witness = await started();
  expect((await fetch(`${witness.url}${path}`, init)).status).toBe(status);
});

it('counts its answers, and reports a log that has signed two trees of one size', async () => {
  await using witness = await started();
  for (const status of [200, 400, 403, 404, 409, 422])
    expect(await witness.metrics()).toContain(`witness_submissions_total{status="${status}"} 0`);
  await witness.add(`old 0\n\n${checkpoint(5, 'one')}`);
  expect(await witness.metrics()).toMatch(/witness_submissions_total\{status="200"\} 1\n/);
  expect(await witness.metrics()).toContain('route="/add-checkpoint"');
  expect(await witness.metrics()).toMatch(/witness_misbehaviour_total 0\n/);
  const errors = () => witness.lines.filter(({ level }) => level === 'error');
  expect(errors()).toEqual([]);
  await witness.add(`old 5\n\n${checkpoint(5, 'other')}`);
  expect(await witness.metrics()).toMatch(/witness_misbehaviour_total 1\n/);
  expect(errors()).toHaveLength(1);
});

it('is alone in its folder, until it has stopped', async () => {
  const witness = await started();
  await expect(started()).rejects.toThrow('in use');
  await witness.stop();
  await (await started()).stop();
});

it('refuses requests beyond its limit on concurrent ones', async () => {
  const seed = randomBytes(32).toString('base64');
  await using witness = await startTestWitness('log.example/log', seed, {
    requestsInFlightMax: 1,
  });
  const { hostname, port } = new URL(witness.url);
  const waiting = connect(Number(port), hostname);
  waiting.write(
    'POST /add-checkpoint HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n',
  );
  // It continues, so it is in progress until its body comes.
  await once(waiting, 'data');
  const { status } = await fetch(new URL('/log.example%2Flog/checkpoint', witness.url));
  expect(status).toBe(500);
  waiting.destroy();
});
