import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { STATUSES } from '../../conformance/daemon/bench.ts';
import {
  makeStandaloneHome,
  type RunningStandalone,
  type StandaloneHome,
} from '../../e2e/standalone-process.ts';
import { openPorts } from './open-ports.ts';

// Enough to build a port, start a standalone, and wait for a fence.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const PORTS = openPorts();
const BODY = '{"prompt":"hello"}';
const PATH = '/api/invoke';

let home: StandaloneHome;
let standalone: RunningStandalone;
let token: string;

beforeAll(async () => {
  home = await makeStandaloneHome();
  standalone = await home.start();
  token = (await home.token('--user', 'ada')).stdout.trim();
});
afterAll(async () => {
  await standalone?.stop();
  await home?.[Symbol.asyncDispose]();
});

const SAY_STATUSES = 'import json, ori_proof; print(json.dumps(ori_proof.STATUSES))';
const cwd = join(import.meta.dirname, '../../../libs/public/python/src');
const said = spawnSync('python3', ['-c', SAY_STATUSES], { cwd }).stdout;

test.skipIf(said.length === 0)('Python answers each refusal with the status of its code', () => {
  const { internal_error: _, ...statuses } = STATUSES;
  expect(JSON.parse(String(said))).toEqual(statuses);
});

async function sign(): Promise<Record<string, string>> {
  const { baseUrl, internId } = standalone.state;
  const response = await fetch(`${baseUrl}/interns/${internId}/daemon/sign`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      bodySha256: createHash('sha256').update(BODY).digest('hex'),
      route: { method: 'POST', path: PATH },
    }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, string>;
}

async function call(daemonUrl: string, proof: Record<string, string>) {
  const headers = { ...proof, 'content-type': 'application/json' };
  const response = await fetch(daemonUrl + PATH, { method: 'POST', headers, body: BODY });
  const answer = (await response.json()) as { user?: string; error?: { code: string } };
  // No diagnosis: services/ori/README.md.
  expect(Object.keys(answer.error ?? {})).toEqual(answer.error ? ['code', 'message'] : []);
  return { status: response.status, said: answer.user ?? answer.error?.code, headers: response.headers };
}

/** Retries until the fence of a newly started daemon has passed. */
async function callPastFence(daemonUrl: string) {
  const proof = await sign();
  const answer = await call(daemonUrl, proof);
  if (answer.said !== 'proof_before_fence') return { proof, answer };
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  await pause(seconds * 1000);
  const again = await sign();
  return { proof: again, answer: await call(daemonUrl, again) };
}

async function withDaemon(command: readonly string[], use: (url: string) => Promise<void>): Promise<void> {
  const [program = '', ...args] = command;
  const running = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [url] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
    await use(url);
  } finally {
    await stopped(running);
  }
}

async function stopped(program: ChildProcess): Promise<void> {
  const exit = once(program, 'exit');
  program.kill();
  await exit;
}

describe.each(PORTS)('$name', ({ conform, daemon }) => {
  test('gives the same answers as our verifier', async () => {
    const main = join(import.meta.dirname, '../../conformance/main.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...conform]);
    expect(stdout).toMatch(/^(\d+) of \1 scenarios as expected/m);
  });

  // What else its daemon must do is in ../daemon, with proofs that the suite signs.
  test('its daemon accepts a proof of a live signer once', async () => {
    const { internId, jwksUrl, root, users } = standalone.state;
    await withDaemon(daemon(internId, jwksUrl, JSON.stringify(root)), async (daemonUrl) => {
      const { proof, answer } = await callPastFence(daemonUrl);
      const ada = users.find((user) => user.name === 'ada');
      expect(answer).toMatchObject({ status: 200, said: ada?.subject });
      expect(await call(daemonUrl, proof)).toMatchObject({ status: 401, said: 'nonce_replayed' });
    });
  });
});

test.each(PORTS)(
  'the daemon of the $name accepts only keys that the root it pins vouches for',
  async ({ daemon }) => {
    const { internId, jwksUrl, root } = standalone.state;
    const another = JSON.stringify({ ...root, x: 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw' });
    await withDaemon(daemon(internId, jwksUrl, another), async (url) => {
      expect(await call(url, await sign())).toMatchObject({ status: 503, said: 'keys_unavailable' });
    });
  },
);
