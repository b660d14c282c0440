import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { inLanes } from '@ori/test-env/in-lanes';
import { overTcp, PATH, type Sent } from '@ori/test-env/verifier/guarded-daemons';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Cell,
  HEAD_WITH_KEY,
  judgeAnswers,
  judgeCell,
  LANES,
  readStates,
  SERVER_CELLS,
} from '../conformance/daemon/runtimes.ts';
import { INTERN_ID } from '../vectors/scenario.ts';
import {
  bundleWorker,
  closeRuntimes,
  jwksUrl,
  openRuntimes,
  prepareLaunches,
  signer,
  startDaemon,
  startWorker,
} from './daemons.ts';
import { EXAMPLES, RECIPES, startRecipe } from './recipes.ts';
import { RUNTIMES } from './setup.ts';

const BODY = '{"prompt":"hello"}';
const signed = (): [string, string][] => [
  ['content-type', 'application/json'],
  ...Object.entries(signer.sign({ path: PATH, body: BODY })),
];

const NODE_ADAPTERS = ['node', 'express', 'express4', 'fastify', 'koa', 'hono', 'fetch', 'next'];
const CELLS: readonly (readonly [runtime: string, adapter: string])[] = [
  ...['node', 'express', 'fetch'].map((adapter) => ['Node 20.19', adapter] as const),
  ...['node', 'fetch'].map((adapter) => ['Node 22', adapter] as const),
  ...NODE_ADAPTERS.map((adapter) => ['Node 24', adapter] as const),
  ...['Bun', 'Deno'].flatMap((name) => ['express', 'fetch'].map((adapter) => [name, adapter] as const)),
  ...['hono', 'fetch'].map((adapter) => ['workerd', adapter] as const),
];

beforeAll(async () => {
  await openRuntimes();
  await prepareLaunches(INTERN_ID);
}, 600_000);

interface Ran {
  readonly total: number;
  readonly withoutProof: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

afterAll(closeRuntimes);

/** The requests to each daemon with one proof, in this order, and the required responses. */
const REQUESTS: readonly (readonly [change: Partial<Sent>, expected: string])[] = [
  [{}, '200'],
  [{}, '401 nonce_replayed'],
  [{ headers: [['content-type', 'application/json']] }, '401 proof_missing'],
  [{ body: '{"prompt":"other!"}' }, '401 signature_invalid'],
  [{ target: `${PATH}?a=1` }, '401 request_not_coverable'],
  [{ body: 'x'.repeat(100_001) }, '413 body_too_large'],
];

/** What a server may hide from its adapter: requests that are not the signed one. */
const HIDDEN: Readonly<Record<string, () => readonly Partial<Sent>[]>> = {
  'dot segments': () => [`/x/..${PATH}`, '/api/./invoke', `/%2e${PATH}`].map((target) => ({ target })),
  '`\\` for `/`': () => [{ target: '/api\\invoke' }],
  'a fragment': () => [{ target: `${PATH}#top` }],
  'an empty query': () => [{ target: `${PATH}?` }],
  'an origin': () => [{ target: `http://daemon.example${PATH}` }],
  'a second `Content-Type`': () =>
    ['application/json', 'text/plain'].map((type) => ({ headers: [...signed(), ['content-type', type]] })),
};

/** How a client may disconnect: in the body, or before the answer. */
const DISCONNECTED: readonly Partial<Sent>[] = [
  { cutAfter: 5 },
  { cutAfter: 5, resets: true },
  { cutAfter: BODY.length },
  { cutAfter: BODY.length, resets: true },
];

/** The rows of the table in test/conformance/README.md: server and what it hides. */
const SERVERS = [
  ...(await readFile(new URL('../conformance/README.md', import.meta.url), 'utf8')).matchAll(
    /^\| (?:raw|request) +\| ([^|]+?) +\| ([^|]+?) +\|$/gm,
  ),
].map(([, server, hides]) => `${server}: ${hides}`);

/** The row to which a cell belongs. */
function serverOf(runtime: string, adapter: string): string {
  if (adapter === 'next') return 'Next';
  if ((adapter === 'fetch' || adapter === 'hono') && !runtime.startsWith('Node')) return runtime;
  return 'node:http, Express, Fastify, Koa, @hono/node-server';
}

// Concurrently: each waits until its store is older than the proofs.
test.concurrent.each(CELLS)(
  '%s, %s: the same verdicts, and no handler runs without a proof',
  async (runtime, adapter) => {
    const { port, stop, said } = await startDaemon(runtime, adapter);
    const daemon = overTcp(port, stop);
    const ran = async () => (await (await fetch(`http://127.0.0.1:${port}/ran`)).json()) as Ran;
    const show = ({ status, code }: { status: number | undefined; code: string | undefined }) =>
      `${status}${code === undefined ? '' : ` ${code}`}`;
    try {
      // Concurrently, before the keys have been fetched: on workerd, no request may wait for another request's fetch.
      const first = Array.from({ length: 5 }, () => daemon.send({ headers: signed(), body: BODY }));
      for (const { status, code } of await Promise.all(first)) {
        expect(code ?? status).toBeOneOf([200, 'proof_before_fence']);
      }
      // A new store refuses what was signed before, or right after, it was created.
      await vi.waitFor(
        async () =>
          expect(await daemon.send({ headers: signed(), body: BODY })).toMatchObject({ status: 200 }),
        { timeout: 20_000, interval: 500 },
      );
      const before = await ran();
      const headers = signed();
      for (const [change, expected] of REQUESTS) {
        expect(show(await daemon.send({ headers, body: BODY, ...change }))).toBe(expected);
      }
      await daemon.send({ headers: signed(), body: BODY, cutAfter: 5 });
      const many = Array.from({ length: 20 }, () => daemon.send({ headers: signed(), body: BODY }));
      const crowd = (await Promise.all(many)).filter(({ status }) => status === 200).length;
      const after = await ran();
      const hidden: string[] = [];
      for (const [what, changes] of Object.entries(HIDDEN)) {
        const answers = changes().map((change) => daemon.send({ headers: signed(), body: BODY, ...change }));
        if ((await Promise.all(answers)).some(({ status }) => status === 200)) hidden.push(what);
      }
      const disconnected = await ran();
      for (const cut of DISCONNECTED) {
        const proof = { headers: signed(), body: BODY };
        await daemon.send({ ...proof, ...cut });
        const isWhole = cut.cutAfter === BODY.length;
        expect(show(await daemon.send(proof))).toBeOneOf(['200', ...(isWhole ? ['401 nonce_replayed'] : [])]);
      }
      expect(crowd).toBe(20);
      expect(after).toMatchObject({ total: before.total + 1 + 20, withoutProof: 0 });
      expect(`${serverOf(runtime, adapter)}: ${hidden.join(', ') || 'nothing'}`).toBeOneOf(SERVERS);
      // Each proof of a client that disconnected reached the handler once: the first time or when it was sent again.
      await vi.waitFor(async () => {
        const { total, outcomes } = await ran();
        expect(total).toBe(disconnected.total + DISCONNECTED.length);
        expect(outcomes).toMatchObject({ aborted: expect.any(Number) });
        expect(outcomes).not.toHaveProperty('internal_error');
      }, 20_000);
      // A stranger must not be able to fill the log. Koa itself logs a socket that failed.
      if (adapter !== 'koa') expect(said()).not.toMatch(/Error|at .*\.js:/);
    } finally {
      await stop();
    }
  },
);

// `--runtimes` tests the other adapters, too.
test('each server meets the sentences of SPEC.md that the table of runtimes says', async () => {
  const expected = await readStates();
  await inLanes(SERVER_CELLS.length, LANES, async (index) => {
    const cell = SERVER_CELLS[index] as Cell;
    // Next takes seconds to start.
    const states = await judgeCell(cell, cell.name === 'Next' ? ['slow', 'key sets'] : ['slow']);
    expect([cell.name, Object.keys(states).length]).toEqual([cell.name, expect.toSatisfy((n) => n > 25)]);
    expect({ [cell.name]: expected.get(cell.name) }).toMatchObject({ [cell.name]: states });
  });
}, 300_000);

test('each server with an answer key meets the sentences about answers and their proofs that the table says', async () => {
  const expected = await readStates(HEAD_WITH_KEY);
  expect([...expected.keys()]).toEqual(SERVER_CELLS.map(({ name }) => name));
  await inLanes(SERVER_CELLS.length, LANES, async (index) => {
    const cell = SERVER_CELLS[index] as Cell;
    expect({ [cell.name]: await judgeAnswers(cell) }).toEqual({ [cell.name]: expected.get(cell.name) });
  });
}, 300_000);

// Concurrently: it waits for 30 s.
test.concurrent('the Durable Object to copy is a replay store that survives a restart of workerd', async ({
  onTestFinished,
}) => {
  const source = await readFile(new URL('durable-object.mjs', EXAMPLES), 'utf8');
  const daemon = source.replaceAll('int_7Qm2', signer.internId).replace(/'https:[^']*'/, `'${jwksUrl}'`);
  await writeFile(join(RUNTIMES, 'durable-object.mjs'), daemon);
  const entry = fileURLToPath(new URL('./worker-durable-object.mjs', import.meta.url));
  const persisted = await mkdtemp(join(tmpdir(), 'ori-durable-object-'));
  onTestFinished(() => rm(persisted, { recursive: true, force: true }));
  const options = {
    durableObjects: { SPENT_PROOFS: { className: 'SpentProofs', useSQLite: true } },
    durableObjectsPersist: persisted,
    // For the conformance test, which signs nothing but imports modules that do.
    compatibilityFlags: ['nodejs_compat'],
  };
  const headers = signed();
  for (const expected of [200, 401]) {
    const { port, stop } = await startWorker('durable-object', options, entry);
    const worker = overTcp(port, stop);
    try {
      expect(await worker.send({ headers, body: BODY })).toMatchObject({ status: expected });
      expect(await worker.send({ headers, body: BODY })).toEqual({ status: 401, code: 'nonce_replayed' });
      // It waits for as long as the store must remember a proof.
      if (expected === 200) {
        expect(await (await fetch(`http://127.0.0.1:${port}/conformance`)).text()).toBe('conforms');
      }
    } finally {
      await worker.stop();
    }
  }
}, 180_000);

test.concurrent.each(RECIPES)('the example %s accepts a proof once', async (name) => {
  const { port, stop } = await startRecipe(name);
  const daemon = overTcp(port, stop);
  try {
    const headers = await vi.waitFor(
      async () => {
        const proof = signed();
        expect(await daemon.send({ headers: proof, body: BODY })).toMatchObject({ status: 200 });
        return proof;
      },
      { timeout: 20_000, interval: 500 },
    );
    expect(await daemon.send({ headers, body: BODY })).toEqual({ status: 401, code: 'nonce_replayed' });
    const batched = { headers: signed(), body: BODY, target: `${PATH}?batch=1` };
    expect(await daemon.send(batched)).toEqual({ status: 401, code: 'request_not_coverable' });
    const type = { 'content-type': 'application/json' };
    const proof = signer.sign({ path: PATH, body: BODY, user: 'ada' });
    const request = { method: 'POST', headers: { ...type, ...proof }, body: BODY };
    const answer = await (await fetch(`http://127.0.0.1:${port}${PATH}`, request)).text();
    expect(JSON.parse(answer).result?.data ?? JSON.parse(answer)).toEqual({ user: 'ada', prompt: 'hello' });
  } finally {
    await daemon.stop();
  }
});

test('a bundle for Workers stays below 30 kB', async () => {
  const code = await bundleWorker('fetch', fileURLToPath(new URL('./worker-fetch.mjs', import.meta.url)));
  const bytes = gzipSync(code).byteLength;
  console.log(`bundle for Workers: ${code.length} bytes, ${bytes} gzipped`);
  expect(bytes).toBeLessThan(30_000);
});

test('every resolver finds the types that belong to the code', async () => {
  const { checkPackage, createPackageFromTarballData } = await import(
    join(RUNTIMES, 'node_modules/@arethetypeswrong/core/dist/index.js')
  );
  for (const name of ['proof', 'tlog', 'verifier']) {
    const tarball = await readFile(join(RUNTIMES, 'tarballs', `ori-${name}-1.0.0.tgz`));
    const { problems } = await checkPackage(createPackageFromTarballData(tarball));
    // ESM only, by design: `require` works from Node 20.19 on, and resolution by folder names (node10) is not supported.
    const real = problems.filter(
      ({ kind, resolutionKind }: { kind: string; resolutionKind?: string }) =>
        !(resolutionKind === 'node10' || kind === 'CJSResolvesToESM'),
    );
    expect(real).toEqual([]);
  }
});
