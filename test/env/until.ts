import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 30_000;

/** Waits until it holds: for events of servers of which nothing tells us. @throws Error `what` if it does not within 30 s */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > endsAt) throw new Error(what);
    await pause(25);
  }
}
