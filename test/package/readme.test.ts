import { spawn } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@ori/test-env/ports';
import { type Served, serve } from '@ori/test-env/serve';
import { createTestSigner } from '@ori/verifier/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createProject, findNodes, type Project } from './empty-project.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';
const signer = createTestSigner({ internId: 'int_7Qm2' });
const readme = await readFile(join(ROOT, 'libs/public/verifier/README.md'), 'utf8');
const [, express = ''] = /```ts\n(.*?)```/s.exec(await readFile(join(ROOT, 'README.md'), 'utf8')) ?? [];
const EXAMPLES = join(ROOT, 'libs/public/verifier/examples');
const examples = ['next.mjs', 'fastify.mjs', 'koa.mjs', 'hono.mjs', 'fetch.mjs'];
/** The blocks of the READMEs by their headings, and the examples by their files. */
const blocks = new Map([
  ...readme
    .split(/^##+ /m)
    .slice(1)
    .map(
      (section) => [section.split('\n', 1)[0] ?? '', /```js\n(.*?)```/s.exec(section)?.[1] ?? ''] as const,
    ),
  ...(await Promise.all(
    examples.map(async (file) => [file, await readFile(join(EXAMPLES, file), 'utf8')] as const),
  )),
  ['Express', express] as const,
]);

let project: Project;
let keys: Served<Server>;
beforeAll(async () => {
  keys = await serve(createServer((_request, response) => response.end(JSON.stringify(signer.jwks))));
  project = await createProject();
  await project.link('express', 'fastify', 'hono', 'koa');
  await cp(new URL('./consumer/serve.mjs', import.meta.url), join(project.folder, 'serve.mjs'));
}, 300_000);
afterAll(async () => {
  await keys[Symbol.asyncDispose]();
  await rm(project.folder, { recursive: true, force: true });
});

/** The block, with the addresses replaced. */
async function paste(name: string, port: number): Promise<string> {
  const file = `${name.replaceAll(/\W/g, '-')}-${port}.mjs`;
  const block = (blocks.get(name) ?? '')
    .replace(/8080|8443/, String(port))
    .replace(/['`]https:[^'`]*jwks\.json['`]/, `'${keys.url}/jwks.json'`);
  await writeFile(join(project.folder, file), block);
  return `./${file}`;
}

/** Returns the nonce of the call that was accepted. */
async function expectOnce(url: string): Promise<string> {
  const type = { 'content-type': 'application/json' };
  const send = (headers: Record<string, string>) =>
    fetch(url, { method: 'POST', body: BODY, headers: { ...type, ...headers } });
  // A new store refuses everything signed before its creation.
  const [headers, accepted] = await vi.waitFor(
    async () => {
      const signed = { ...signer.sign({ path: PATH, body: BODY, user: 'ada' }) };
      const response = await send(signed);
      expect(response.status).toBe(200);
      return [signed, response] as const;
    },
    { timeout: 45_000, interval: 300 },
  );
  expect(await accepted.json()).toMatchObject({ user: 'ada' });
  expect((await send(headers)).status).toBe(401);
  expect((await send({})).status).toBe(401);
  return headers['x-ori-invoke-nonce'] ?? '';
}

const FRAMEWORKS = ['node:http', 'Express', ...examples];
const nodes = await findNodes();
const [newest] = [...nodes].toSorted(([one], [other]) => Number(other) - Number(one));
const cells = [...nodes].flatMap(([major, node]) =>
  (major === newest?.[0] ? FRAMEWORKS : ['node:http']).map((name) => [name, major, node] as const),
);

test.concurrent.each(cells)(
  'the daemon of %s, pasted, accepts a proof once on Node %s',
  async (name, _major, node) => {
    const port = await freePort();
    const file = await paste(name, port);
    const args = (blocks.get(name) ?? '').includes('.listen(') ? [file] : ['serve.mjs', file, String(port)];
    const child = spawn(node, args, { cwd: project.folder, stdio: 'inherit' });
    try {
      await expectOnce(`http://127.0.0.1:${port}${PATH}`);
    } finally {
      child.kill();
    }
  },
);

test.concurrent('the daemon that keeps answers, pasted, gives one again', async () => {
  const port = await freePort();
  const file = await paste('A lost answer', port);
  const child = spawn(process.execPath, [file], { cwd: project.folder, stdio: 'inherit' });
  try {
    const nonce = await expectOnce(`http://127.0.0.1:${port}${PATH}`);
    const path = `/.well-known/ori/calls/${nonce}`;
    const proof = signer.sign({ path, body: '', user: 'ada' });
    const headers = { 'content-type': 'application/json', ...proof };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: '', headers });
    expect(answer.headers.get('ori-answer')).toBe('kept');
    expect(await answer.json()).toEqual({ user: 'ada', prompt: 'hello' });
  } finally {
    child.kill();
  }
});
