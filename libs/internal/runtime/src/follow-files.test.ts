import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { followFiles } from './follow-files.ts';

test('uses what was read last, and nothing once it is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ori-follow-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'keys');
  writeFileSync(file, 'first');
  const readings: ReturnType<typeof Promise.withResolvers<string>>[] = [];
  const changes: string[] = [];
  const following = followFiles(
    [file],
    () => {
      const reading = Promise.withResolvers<string>();
      readings.push(reading);
      return reading.promise;
    },
    { changed: (next, first) => changes.push(`${first} ${next}`), failed: String },
  );
  readings[0]?.resolve('first');
  const { first, inUse, close } = await following;
  onTestFinished(close);
  expect([first, inUse()]).toEqual(['first', 'first']);
  for (const count of [2, 3]) {
    writeFileSync(file, 'x'.repeat(count));
    await expect.poll(() => readings.length, { timeout: 10_000 }).toBe(count);
  }
  readings[2]?.resolve('third');
  readings[1]?.resolve('second');
  await expect.poll(() => changes).toEqual(['first third']);
  expect(inUse()).toBe('third');
  writeFileSync(file, 'xxxx');
  await expect.poll(() => readings.length, { timeout: 10_000 }).toBe(4);
  close();
  readings[3]?.resolve('fourth');
  await readings[3]?.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect([inUse(), changes]).toEqual(['third', ['first third']]);
});
