import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, expect, it } from 'vitest';
import { extendKekRing, generateKekRing, parseKekRing } from './kek-ring-text.ts';
import { collectKeks, openServiceRing } from './service-ring.ts';

const folder = await mkdtemp(join(tmpdir(), 'ori-ring-'));
afterAll(() => rm(folder, { recursive: true }));
const log = () => {
  const lines: string[] = [];
  const add = (_facts: object, message: string) => void lines.push(message);
  return { lines, info: add, error: add };
};

it('is read again within seconds after its link is replaced, and kept if the new file cannot be used', async () => {
  const [link, next] = [join(folder, 'ring'), join(folder, 'next')];
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    await symlink(join(folder, name), next);
    await rename(next, link);
  };
  const first = generateKekRing('signer');
  await write('first', first);
  const told = log();
  const opened = await openServiceRing('signer', { kekFile: link, kekShared: false }, told);
  try {
    const extended = extendKekRing(first, 'signer');
    const { kids } = parseKekRing(extended);
    await write('second', extended);
    await expect.poll(() => opened.ring.kids, { timeout: 10_000 }).toEqual(kids);
    expect(opened.ring.revision).toBe(1);
    await write('third', generateKekRing('management'));
    await expect.poll(() => told.lines.at(-1), { timeout: 10_000 }).toMatch(/unusable/);
    expect(opened.ring.kids).toEqual(kids);
    const registry = new Registry();
    collectKeks(registry, opened.ring);
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('ori_kek{'));
    expect(lines).toEqual([
      `ori_kek{kid="${kids[0]}",use="seals",shared="false"} 1`,
      `ori_kek{kid="${kids[1]}",use="opens",shared="false"} 1`,
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
    for (const kekShared of [false, true]) {
      await expect(openServiceRing(owner, { kekFile, kekShared }, log())).rejects.toThrow(
        `${owner.toUpperCase()}_KEK_FILE: keys[0].kid: belongs to the ring of`,
      );
    }
  },
);
