import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import { DependencyError } from '../core/dependency-error.ts';
import { ClockChecked } from '../core/stages/evidence.ts';

/** A daemon tolerates two seconds; this leaves room for its own clock's error and for a slow answer. */
const OFFSET_MAX_MS = 1000;
const COMPARE_EVERY_MS = 1000;

/** Milliseconds since the epoch, of another machine. */
export type RemoteClock = () => Promise<number>;

export interface ClockWatchOptions {
  /** By name, as the metric and the log show them. */
  readonly clocks: Readonly<Record<string, RemoteClock>>;
  readonly registry: Registry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called when the verdict changes, with the offsets in seconds. */
  readonly onChange: (isWrong: boolean, offsets: Readonly<Record<string, number>>) => void;
}

/**
 * Compares this machine's clock with those of Redis and PostgreSQL once a second. If it
 * differs from all of them, it is wrong, and every proof would have a wrong timestamp. If it differs from one of them, that
 * one is wrong; the metric shows it.
 */
export function watchClock({ clocks, registry, now, onChange }: ClockWatchOptions) {
  let offsets: Record<string, number> = {};
  let isWrong = false;
  instrumentsOf(registry).readings(
    'signer_clock_offset_seconds',
    'Seconds by which the clock of this machine is ahead of another; absent while the other does not answer.',
    ['clock'],
    () => Object.entries(offsets).map(([clock, seconds]) => [{ clock }, seconds]),
  );

  async function compare(): Promise<void> {
    const measured = await Promise.all(
      Object.entries(clocks).map(async ([name, clock]) => {
        const offsetMs = await offsetOf(clock, now).catch(() => undefined);
        return offsetMs === undefined ? [] : [[name, offsetMs / 1000] as const];
      }),
    );
    offsets = Object.fromEntries(measured.flat());
    const seen = Object.values(offsets);
    // Without an answer the last verdict remains.
    if (seen.length === 0) return;
    const before = isWrong;
    isWrong = seen.every((seconds) => Math.abs(seconds) * 1000 > OFFSET_MAX_MS);
    if (isWrong !== before) onChange(isWrong, offsets);
  }

  const timer = setInterval(() => void compare(), COMPARE_EVERY_MS);
  timer.unref();
  return {
    /** @throws DependencyError `clock` while this clock differs from every other clock that answers */
    check(): ClockChecked {
      if (!isWrong) return new ClockChecked();
      const cause = Object.assign(new Error('it differs from every other clock'), { code: 'clock_wrong' });
      throw new DependencyError('clock', 'the clock of this machine is wrong', { cause });
    },
    /** Compares now. */
    compare,
    close: () => clearInterval(timer),
  };
}

export type ClockWatch = ReturnType<typeof watchClock>;

/** The offset from the middle of the round trip, minus the uncertainty of half a round trip; 0 if smaller than that. */
async function offsetOf(clock: RemoteClock, now: () => number): Promise<number> {
  const [sentAt, started] = [now(), performance.now()];
  const remote = await clock();
  const halfMs = (performance.now() - started) / 2;
  const offset = sentAt + halfMs - remote;
  return Math.sign(offset) * Math.max(0, Math.abs(offset) - halfMs);
}
