import { CheckFailed } from './finding.ts';

/** Beyond this, a signer suspends signing. */
const OFFSET_MAX_MS = 1000;

/** @param then milliseconds since the epoch, of the other machine now @throws CheckFailed */
export function requireClock(machine: string, then: number, now = Date.now()): void {
  const offset = (now - then) / 1000;
  if (Math.abs(offset) * 1000 <= OFFSET_MAX_MS) return;
  const way = offset > 0 ? 'ahead of' : 'behind';
  throw new CheckFailed(
    `this machine's clock is ${Math.abs(offset).toFixed(1)} s ${way} that of ${machine}`,
    'synchronize both with NTP',
  );
}
