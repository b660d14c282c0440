import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { capturedLog } from '@ori/test-env/captured-log';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { Registry } from 'prom-client';
import { afterAll, expect, it, vi } from 'vitest';
import { extendKekRing, generateKekRing, wrapKekRing } from './change-kek-ring.ts';
import { parseKekRing } from './kek-ring-text.ts';
import { KmsError } from './key-wrapper.ts';
import { createTransit } from './kms/transit.ts';
import { checkServiceRing, collectKeks, openServiceRing, untilKmsAnswers } from './service-ring.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-ring-'));
afterAll(() => rm(folder, { recursive: true }));

it('is read again within seconds after its link is replaced, and kept if the new file cannot be used', async () => {
  const [link, next] = [join(folder, 'ring'), join(folder, 'next')];
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    await symlink(join(folder, name), next);
    await rename(next, link);
  };
  const first = generateKekRing('signer');
  await write('first', first);
  const { log, lines: logged } = capturedLog();
  const opened = await openServiceRing('signer', { kekFile: link }, log);
  try {
    const extended = extendKekRing(first, 'signer');
    const { kids } = parseKekRing(extended);
    await write('second', extended);
    await expect.poll(() => opened.ring.kids).toEqual(kids);
    expect(opened.ring.revision).toBe(1);
    await write('third', generateKekRing('management'));
    await expect.poll(() => logged.at(-1)?.['msg']).toMatch(/unusable/);
    expect(opened.ring.kids).toEqual(kids);
    const registry = new Registry();
    collectKeks(registry, opened.ring);
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('ori_kek{'));
    expect(lines).toEqual([
      `ori_kek{kid="${kids[0]}",use="seals"} 1`,
      `ori_kek{kid="${kids[1]}",use="opens"} 1`,
    ]);
  } finally {
    opened.close();
  }
});

it.each(['signer', 'management'] as const)(
  "refuses to start %s with the other service's ring",
  async (owner) => {
    const kekFile = join(folder, `of-${owner}`);
    await writeFile(kekFile, generateKekRing(owner === 'signer' ? 'management' : 'signer'), { mode: 0o600 });
    await expect(openServiceRing(owner, { kekFile }, capturedLog().log)).rejects.toThrow(
      `${owner.toUpperCase()}_KEK_FILE: keys[0].kid: belongs to the ring of`,
    );
  },
);

it('refuses a ring in a file that other users can read', async () => {
  const kekFile = join(folder, 'open');
  await writeFile(kekFile, generateKekRing('signer'), { mode: 0o644 });
  await expect(openServiceRing('signer', { kekFile }, capturedLog().log)).rejects.toThrow(
    `SIGNER_KEK_FILE: "${kekFile}" is a secret that everyone on this machine may open`,
  );
});

it('misses no change of its file while the KMS has not answered yet', async () => {
  const [kekFile, text] = [join(folder, 'slow'), generateKekRing('signer')];
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = createServer(async (request, response) => {
    const { plaintext, ciphertext } = (await json(request)) as Record<string, string>;
    if (plaintext === undefined) asked.resolve();
    if (plaintext === undefined) await answered.promise;
    response.end(JSON.stringify({ data: { plaintext: ciphertext, ciphertext: plaintext } }));
  });
  const kmsUrl = `${(await serveInTest(server)).url}/v1/transit/keys/kek`;
  const wrap = (ring: string) => wrapKekRing(ring, createTransit({ kmsUrl }));
  await writeFile(kekFile, await wrap(text), { mode: 0o600 });
  const opening = openServiceRing('signer', { kekFile, kmsUrl }, capturedLog().log);
  await asked.promise;
  const extended = extendKekRing(text, 'signer');
  await writeFile(kekFile, await wrap(extended));
  answered.resolve();
  const { ring, close } = await opening;
  try {
    await expect.poll(() => ring.kids).toEqual(parseKekRing(extended).kids);
  } finally {
    close();
  }
});

it('keeps the former ring while the KMS does not unwrap a new one, and takes it as soon as it does', async () => {
  const [kekFile, text] = [join(folder, 'wrapped'), generateKekRing('signer')];
  let isSealed = false;
  const server = createServer(async (request, response) => {
    const { plaintext, ciphertext } = (await json(request)) as Record<string, string>;
    response
      .writeHead(isSealed ? 503 : 200)
      .end(JSON.stringify({ data: { plaintext: ciphertext, ciphertext: plaintext } }));
  });
  const kmsUrl = `${(await serveInTest(server)).url}/v1/transit/keys/kek`;
  const wrap = (ring: string) => wrapKekRing(ring, createTransit({ kmsUrl }));
  await writeFile(kekFile, await wrap(text), { mode: 0o600 });
  const { log, lines: logged } = capturedLog();
  const opened = await openServiceRing('signer', { kekFile, kmsUrl }, log);
  try {
    const { kids } = parseKekRing(text);
    expect(opened.ring.kids).toEqual(kids);
    const extended = extendKekRing(text, 'signer');
    const next = await wrap(extended);
    isSealed = true;
    await writeFile(kekFile, next);
    await expect.poll(() => logged.at(-1)?.['msg']).toMatch(/trying again/);
    expect(opened.ring.kids).toEqual(kids);
    isSealed = false;
    await expect.poll(() => opened.ring.kids).toEqual(parseKekRing(extended).kids);
  } finally {
    opened.close();
  }
});

it('keeps the process alive while it starts without its KMS, and not later; closed, it asks no more', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const asked = async (signal?: AbortSignal) => {
    const open = vi
      .fn()
      .mockRejectedValueOnce(new KmsError('unavailable', 'sealed'))
      .mockResolvedValue('open');
    const before = timers();
    const opening = untilKmsAnswers('it', open, capturedLog().log, signal);
    await turnOfTheLoop();
    return { opening, more: timers() - before };
  };
  const start = await asked();
  const closing = new AbortController();
  const later = await asked(closing.signal);
  expect([start.more, later.more]).toEqual([1, 0]);
  const closed = expect(later.opening).rejects.toThrow('aborted');
  closing.abort();
  await closed;
  await expect(start.opening).resolves.toBe('open');
});

it.each([
  [
    'a key in plain text where a KMS is configured',
    'unix:/nowhere',
    generateKekRing('signer'),
    'keys[0].k: ',
  ],
  [
    'a wrapped key where none is',
    undefined,
    generateKekRing('signer').replace('"k":', '"wrapped":'),
    'keys[0].wrapped: ',
  ],
  [
    'a wrapped key whose name does not tell the key',
    'unix:/nowhere',
    '{"keys":[{"kty":"oct","kid":"signer","wrapped":"x"}]}',
    'keys[0].kid: ',
  ],
])('refuses %s', async (_what, kmsUrl, text, problem) => {
  const kekFile = join(folder, 'refused');
  await writeFile(kekFile, text, { mode: 0o600 });
  const config = { kekFile, kmsUrl };
  expect(() => checkServiceRing('signer', config)).toThrow(`SIGNER_KEK_FILE: ${problem}`);
  await expect(openServiceRing('signer', config, capturedLog().log)).rejects.toThrow(problem);
});
