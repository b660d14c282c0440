import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@ori/test-env/ports';
import { createTestSigner } from '@ori/verifier/testing';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';
const signer = createTestSigner({ internId: 'int_7Qm2' });
const readme = await readFile(join(ROOT, 'libs/verifier/README.md'), 'utf8');
/** By the heading that it stands under. */
const blocks = new Map(
  readme
    .split(/^### /m)
    .slice(1)
    .map(
      (section) => [section.split('\n', 1)[0] ?? '', /```js\n(.*?)```/s.exec(section)?.[1] ?? ''] as const,
    ),
);

let folder: string;
const keys = createServer((_request, response) => response.end(JSON.stringify(signer.jwks)));
beforeAll(async () => {
  keys.listen(0, '127.0.0.1');
  await once(keys, 'listening');
  await mkdir(join(ROOT, 'node_modules/.cache'), { recursive: true });
  folder = await mkdtemp(join(ROOT, 'node_modules/.cache/readme-'));
});
afterAll(async () => {
  keys.close();
  keys.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** The block as it is, but for the addresses. */
async function write(name: string, port: number): Promise<string> {
  const block = blocks.get(name) ?? '';
  const { port: keysPort } = keys.address() as AddressInfo;
  const file = join(folder, `${name.replaceAll(/\W/g, '-')}.mjs`);
  await writeFile(
    file,
    block
      .replaceAll('8080', String(port))
      .replace(/'https:[^']*jwks\.json'/, `'http://127.0.0.1:${keysPort}/jwks.json'`),
  );
  return file;
}

async function expectOnce(send: (headers: Record<string, string>) => Promise<Response>): Promise<void> {
  const signed = () => ({
    'content-type': 'application/json',
    ...signer.sign({ path: PATH, body: BODY, user: 'ada' }),
  });
  let headers = signed();
  // The store was just made, and refuses what was signed up to then.
  const accepted = await vi.waitFor(
    async () => {
      headers = signed();
      const response = await send(headers);
      expect(response.status).toBe(200);
      return response;
    },
    { timeout: 20_000, interval: 300 },
  );
  expect(await accepted.json()).toMatchObject({ user: 'ada', prompt: 'hello' });
  expect((await send(headers)).status).toBe(401);
  expect((await send({ 'content-type': 'application/json' })).status).toBe(401);
}

test.each(['node:http', 'Express', 'Fastify', 'Koa'])(
  'the daemon on %s accepts a proof once',
  async (name) => {
    const port = await freePort();
    const child = spawn(process.execPath, [await write(name, port)], { stdio: 'inherit' });
    onTestFinished(() => void child.kill());
    await expectOnce((headers) =>
      fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', body: BODY, headers }),
    );
  },
);

test.each(['Hono', 'Next', 'Bun, Deno and Workers'])(
  'the daemon for %s accepts a proof once',
  async (name) => {
    const daemon = await import(await write(name, 0));
    const handle = daemon.POST ?? daemon.default.fetch;
    await expectOnce(async (headers) =>
      handle(new Request(`http://daemon.example${PATH}`, { method: 'POST', body: BODY, headers }), {
        params: {},
      }),
    );
  },
);
