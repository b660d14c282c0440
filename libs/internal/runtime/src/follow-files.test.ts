import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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
  await expect.poll(() => readings.length).toBe(1);
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

vi.mock('node:fs/promises', { spy: true });

test('asks a disk that hangs once, and reads nothing that it says after the close', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const read = vi.fn(async () => 'first');
  const { close } = await followFiles(['/keys'], read, { changed: String, failed: String });
  const hanging = Promise.withResolvers<never>();
  const asked = vi.mocked(stat).mockReset().mockReturnValue(hanging.promise);
  onTestFinished(() => void asked.mockRestore());
  vi.advanceTimersByTime(10_000);
  expect(asked).toHaveBeenCalledTimes(1);
  close();
  hanging.reject(Object.assign(new Error(), { code: 'EIO' }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(read).toHaveBeenCalledTimes(1);
});
