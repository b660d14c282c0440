import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createApiKey } from '@ori/store/writes/api-keys';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { signIn } from '../../services/standalone/src/sign-in.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
import { NGINX, startGateway } from '../env/gateway.ts';
import { startManagement } from '../env/service.ts';
import { startWorld } from '../env/world.ts';
import { installPython } from '../wings/ports/python-environment.ts';
import { callEverything, EVERYTHING_WORKED } from './family-client.ts';

const HERE = import.meta.dirname;
const PYTHON = installPython();
const run = promisify(execFile);

let home: string;
let standalone: Standalone;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ori-client-'));
  standalone = await startStandalone(loadStandaloneConfig({ ORI_PORT: '0' }), home);
  const document = await (await fetch(`${standalone.state.baseUrl}/openapi.json`)).json();
  await mkdir(join(HERE, 'dist'), { recursive: true });
  await writeFile(join(HERE, 'dist/api.d.ts'), astToString(await openapiTS(document as OpenAPI3)));
});
afterAll(async () => {
  await standalone.stop();
  await rm(home, { recursive: true, force: true });
});

it('generates types that a client program compiles against', async () => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js');
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--types', 'node'];
  const flags = ['--skipLibCheck', '--allowImportingTsExtensions'];
  await run(process.execPath, [compiler, ...options, ...flags, join(HERE, 'program.ts')]);
});

it('the client lists interns, signs for each, and manages guardrails', async () => {
  const { baseUrl, issuer, apiKey, managementKey } = standalone.state;
  const session = { issuer, clientId: 'ori-cli', resource: baseUrl, user: 'ada', scope: 'openid vault:read' };
  const { accessToken } = await signIn(session);
  const credentials = [baseUrl, apiKey, managementKey, accessToken];
  const { stdout } = await run(process.execPath, [join(HERE, 'program.ts'), ...credentials]);
  const told = JSON.parse(stdout);
  expect(told).toMatchObject({
    interns: ['analytical provisioning', 'greeter running', 'jacquard failed'],
    limits: [0, null],
    refused: { code: 400, message: 'reset_interval: must be one of daily, weekly, monthly.' },
    deleted: { deleted: true },
    credentials: 1,
    unknown: 404,
  });
  const proofs = Object.values(told.proofs);
  expect(proofs).toHaveLength(3);
  for (const proof of proofs) expect(proof).toMatch(/^[A-Za-z0-9+/]{86}==$/);
});

it.runIf(PYTHON !== undefined)(
  'a generated Python client lists interns and keys, and creates a key',
  async () => {
    const { baseUrl, apiKey, managementKey } = standalone.state;
    const document = join(home, 'openapi.json');
    await writeFile(document, await (await fetch(`${baseUrl}/openapi.json`)).text());
    const output = ['--output-path', join(home, 'generated'), '--meta', 'none'];
    // It formats what it generates with the ruff of the PATH.
    const env = { PATH: `${dirname(PYTHON ?? '')}:${process.env['PATH']}` };
    const generate = ['-m', 'openapi_python_client', 'generate', '--path', document, ...output];
    await run(PYTHON ?? '', generate, { cwd: home, env });
    const { stdout } = await run(PYTHON ?? '', [
      join(HERE, 'generated.py'),
      ...[home, baseUrl, apiKey, managementKey],
    ]);
    expect(JSON.parse(stdout)).toEqual({
      interns: ['analytical', 'greeter', 'jacquard'],
      made: 'generated',
      ends: true,
      hasKey: true,
      isListed: true,
    });
  },
);

it("the family's public client, unmodified, calls every operation of npm start", async () => {
  const { baseUrl, apiKey, managementKey } = standalone.state;
  const response = await fetch(`${baseUrl}/key`, {
    headers: { Authorization: `Bearer ${managementKey}` },
  });
  const { data } = (await response.json()) as { data: { creator_user_id: string } };
  const userId = data.creator_user_id;
  const told = await callEverything({ baseUrl, apiKey, managementKey, userId });
  expect(told).toEqual(EVERYTHING_WORKED(userId));
});

it.runIf(NGINX !== undefined)(
  'and of two management processes behind the gateway',
  { timeout: 60_000 },
  async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await startWorld());
    const environment = { TRUST_GATEWAY: 'true' };
    const two = [await startManagement(world, environment), await startManagement(world, environment)];
    const addresses = two.map((service) => stack.use(service).address);
    const gateway = stack.use(
      await startGateway({
        signers: [new URL(world.baseUrl).host],
        management: addresses,
      }),
    );
    const { organizationId, apiKey, userId } = world.demo;
    const management = await createApiKey(world.store, {
      kind: 'management',
      name: 'console',
      organizationId,
    });
    const baseUrl = `${gateway.url}/v1`;
    const told = await callEverything({ baseUrl, apiKey, managementKey: management.key, userId });
    expect(told).toEqual(EVERYTHING_WORKED(userId));
    for (const address of addresses) expect(await gateway.accessLog()).toContain(address);
  },
);
