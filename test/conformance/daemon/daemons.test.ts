import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '@ori/test-env/ports';
import { expect, test } from 'vitest';
import { GOOD } from './bench.ts';
import { startKeyServer } from './key-server.ts';
import { judgeCell, portCells, readStates } from './runtimes.ts';
import { runningAt } from './suite.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const DAEMON = fileURLToPath(new URL('../../runtimes/daemon.mjs', import.meta.url));

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function suite(...args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, '--daemon', ...args], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

// Concurrently: it waits for 30 s. SPEC.md H5, K14, K15, K16, K17, K18, K19, K20, E1, E2, E3, E5, E6, E7.
test.concurrent('the daemon of every port passes every check over HTTP', { timeout: 600_000 }, async () => {
  const cells = portCells();
  const expected = await readStates();
  const found = await Promise.all(cells.map((cell) => judgeCell(cell)));
  for (const [index, { name }] of cells.entries())
    expect([name, found[index]]).toEqual([name, expected.get(name)]);
});

/** Accepts everything. */
const WITHOUT_VERIFIER = `
  const http = require('node:http');
  const server = http.createServer((req, res) => req.resume().on('end', () => res.end('{"user":"user_2abc"}')));
  server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));`;

test.concurrent('reports by sentence what a daemon without a verifier does', async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ori-report-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const json = join(folder, 'report.json');
  const command = [process.execPath, '-e', WITHOUT_VERIFIER];
  const { code, stdout } = await suite('--only', 'V15', '--json', json, '--', ...command);
  expect(stdout).toMatch(/^V15 +FAILED +.*another body/m);
  expect(code).toBe(1);
  const { sentences, outcomes } = JSON.parse(await readFile(json, 'utf8'));
  expect(sentences).toContainEqual({
    id: 'V15',
    state: 'FAILED',
    detail: expect.stringMatching('another body'),
  });
  expect(sentences).toContainEqual({ id: 'V14', state: 'not run', detail: expect.any(String) });
  const failed = outcomes.filter(
    ({ difference }: { difference?: string }) => difference === 'it was accepted',
  );
  expect([failed.length, outcomes.length]).toEqual([6, 8]);
});

test.concurrent('waits for a daemon that is started after it, with keys from the port that it is told', async ({
  onTestFinished,
}) => {
  const [keysPort, port] = [await freePort(), await freePort()];
  const jwks = `http://127.0.0.1:${keysPort}/0/jwks.json`;
  const url = `http://127.0.0.1:${port}`;
  const main = spawn(process.execPath, [
    MAIN,
    '--daemon',
    '--only',
    'V15',
    '--keys-port',
    `${keysPort}`,
    url,
  ]);
  const lines: string[] = [];
  const printed = createInterface({ input: main.stdout }).on('line', (line) => lines.push(line));
  const [first] = await once(printed, 'line');
  expect(first).toBe(`intern int_7Qm2, key set ${jwks}, daemon ${url}`);
  const daemon = spawn(process.execPath, [DAEMON, 'node', 'int_7Qm2', jwks, `${port}`]);
  onTestFinished(() => void daemon.kill());
  const [code] = await once(main, 'close');
  expect(lines.join('\n')).toMatch(/^V15 +ok /m);
  expect(code).toBe(0);
});

test.concurrent('serves a daemon that runs already no key set that outlives its check', async () => {
  await using keyServer = await startKeyServer();
  const daemons = runningAt(new URL(keyServer.firstUrl), keyServer);
  expect((await fetch(keyServer.firstUrl)).status).toBe(503);
  const { keys } = await daemons.start(GOOD);
  const freshness = async () => (await fetch(keys.url)).headers.get('cache-control');
  expect(await freshness()).toBe('max-age=10');
  keys.answer = { ...GOOD, headers: { 'cache-control': 'no-store' } };
  expect(await freshness()).toBe('no-store');
});

test.concurrent.each([
  ['does not start', ['-e', 'process.exit(3)']],
  ['prints no address', ['-e', 'console.log("hello")']],
])('says so if a daemon %s', async (_what, args) => {
  const { code, stderr } = await suite('--only', 'V15', '--', process.execPath, ...args);
  expect(stderr).toMatch(/^Cannot test the daemon: /m);
  expect(code).toBe(2);
});
