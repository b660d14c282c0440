import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inLanes } from '@ori/test-env/in-lanes';
import { expect, test } from 'vitest';
import { openPorts } from '../ports/open-ports.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const DAEMON = fileURLToPath(new URL('../../runtimes/daemon.mjs', import.meta.url));

/** The commands that start a daemon, with the options of the suite for it. */
const DAEMONS: readonly (readonly [name: string, options: readonly string[], command: readonly string[]])[] =
  [
    ...['node', 'fastify'].map((adapter) => {
      const command = [process.execPath, DAEMON, adapter, '{intern}', '{jwks}'];
      return [`@ori/verifier/${adapter}`, ['--body-bytes-max', '1000'], command] as const;
    }),
    ...openPorts().map(({ name, daemon }) => [name, [], daemon('{intern}', '{jwks}')] as const),
  ];

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

// SPEC.md H5, K14, K15, K16, K17, K18, K30, K31, E1, E2, E3, E5, E6, E7.
test('every daemon passes every check over HTTP', { timeout: 600_000 }, async () => {
  const verdicts = await inLanes(DAEMONS.length, 2, async (index) => {
    const [name = '', options = [], command = []] = DAEMONS[index] ?? [];
    const { code, stdout } = await suite(...options, '--', ...command);
    return `${name}: ${code === 0 ? 'passed' : stdout.split('\n').slice(-12).join('\n')}`;
  });
  expect(verdicts).toEqual(DAEMONS.map(([name]) => `${name}: passed`));
});

test('reports by sentence what a daemon without a verifier does', async () => {
  const accepts = `
    const http = require('node:http');
    const server = http.createServer((req, res) => req.resume().on('end', () => res.end('{"user":"user_2abc"}')));
    server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));`;
  const { code, stdout } = await suite('--only', 'V15', '--', process.execPath, '-e', accepts);
  expect(stdout).toMatch(/^V15 +FAILED +.*another body/m);
  expect(code).toBe(1);
});

test.each([
  ['does not start', ['-e', 'process.exit(3)']],
  ['prints no address', ['-e', 'console.log("hello")']],
])('says so if a daemon %s', async (_what, args) => {
  const { code, stderr } = await suite('--only', 'V15', '--', process.execPath, ...args);
  expect(stderr).toMatch(/^Cannot test the daemon: /m);
  expect(code).toBe(2);
});
