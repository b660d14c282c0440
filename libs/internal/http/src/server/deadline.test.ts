import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { Deadline, DeadlineError, presentDeadline } from './deadline.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

describe('a deadline', () => {
  it('aborts its signal with the reason', async () => {
    const deadline = new Deadline(20);
    expect(await aborted(deadline.signal)).toMatchObject({ code: 'deadline_exceeded', deadlineMs: 20 });
    expect(() => deadline.check()).toThrow(DeadlineError);
    expect(deadline.remainingMs()).toBeLessThan(1);
  });

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

  it('resolves a race to the result of work that ends in time', async () => {
    const deadline = new Deadline(60_000);
    await expect(deadline.race(Promise.resolve(1))).resolves.toBe(1);
    await expect(deadline.race(Promise.reject(new TypeError('x')))).rejects.toBeInstanceOf(TypeError);
    deadline.clear();
  });
});

it('reports the route’s deadline to the client', () => {
  expect(presentDeadline(5000)).toEqual({
    status: 408,
    message: 'The 5000 ms deadline of this route was exceeded.',
    reason: 'timeout',
    retryable: true,
  });
});
