import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { Deadline, DeadlineError } from './deadline.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

describe('a deadline', () => {
  it('aborts with a reason when the client disconnects', async () => {
    const deadline = new Deadline(60_000);
    const race = deadline.race(new Promise(() => {}));
    deadline.abandon(new Error('gone'));
    await expect(race).rejects.toThrow('gone');
  });

  it('counts the time before it was created', async () => {
    const deadline = new Deadline(60_000, performance.now() - 60_000);
    expect(() => deadline.check()).toThrow(DeadlineError);
    expect(await aborted(deadline.signal)).toBeInstanceOf(DeadlineError);
  });

  it('never aborts once it is cleared', async () => {
    const deadline = new Deadline(10);
    deadline.clear();
    await aborted(new Deadline(30).signal);
    expect(deadline.signal.aborted).toBe(false);
  });

  it('rejects a race at the deadline, and immediately afterwards', async () => {
    const deadline = new Deadline(10);
    const never = new Promise<never>(() => {});
    await expect(deadline.race(never)).rejects.toBeInstanceOf(DeadlineError);
    await expect(deadline.race(never)).rejects.toBeInstanceOf(DeadlineError);
  });
});
