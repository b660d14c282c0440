import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HERE = import.meta.dirname;

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function conformance(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(HERE, 'main.ts'), ...args], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

test('finds no difference in our own verifier', async () => {
  const { code, stdout } = await conformance(
    '--requests',
    '200',
    '--seed',
    'test',
    process.execPath,
    join(HERE, 'serve.ts'),
  );
  expect(stdout).toMatch(/^replay +\d+ +0 +0$/m);
  expect(code).toBe(0);
});

test('reports differences by section and code, and writes them', async () => {
  const report = join(await mkdtemp(join(tmpdir(), 'ori-report-')), 'report.json');
  const accepts = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { do: kind } = JSON.parse(line);
      const verdict = { hello: 'ready', start: 'done', begin: 'continue', body: 'continue' }[kind] ?? 'ok';
      console.log(JSON.stringify({ verdict, features: [] }));
    })`;
  const { code, stdout } = await conformance(
    '--json',
    report,
    '--only',
    'refuses a query',
    process.execPath,
    '-e',
    accepts,
  );
  expect(code).toBe(1);
  expect(stdout).toMatch(/request_not_coverable -> ok/);
  expect(JSON.parse(await readFile(report, 'utf8'))).toContainEqual(
    expect.objectContaining({ section: '4.3', codes: 'request_not_coverable -> ok' }),
  );
});

test.each([
  ['ends', 'process.exit(3)'],
  ['sends an invalid answer', 'process.stdin.on("data", () => console.log("[]"))'],
])('reports a program that %s', async (_, program) => {
  const { code, stderr } = await conformance(process.execPath, '-e', program);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Cannot run the command: /);
});
