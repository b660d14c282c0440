import { explainFailure } from '@ori/http/explain-failure';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { ConfigError } from '@ori/runtime/config';
import { OverprivilegedLogin } from '@ori/store/login';
import { tell } from '../failure.ts';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'failing' | 'skipped';
  readonly found: string;
  /** What to do; absent if nothing has to be done. */
  readonly fix?: string;
}

/** A check that found something wrong, or could not run. Neither sentence contains a secret. */
export class CheckFailed extends Error {
  readonly fix: string;
  readonly state: 'failing' | 'skipped';

  constructor(message: string, fix: string, state: 'failing' | 'skipped' = 'failing') {
    super(message);
    this.name = 'CheckFailed';
    this.fix = fix;
    this.state = state;
  }
}

/** Runs one check, which resolves to what it found to be right. Does not throw. */
export async function examine(check: string, look: () => Promise<string>, fix: string): Promise<Finding> {
  try {
    return { check, state: 'ok', found: await look() };
  } catch (error) {
    if (error instanceof CheckFailed) {
      return { check, state: error.state, found: error.message, fix: error.fix };
    }
    return { check, state: 'failing', ...reasonOf(error, fix) };
  }
}

function reasonOf(error: unknown, fix: string): Pick<Finding, 'found' | 'fix'> {
  if (error instanceof ConfigError) return { found: error.problems.join('; '), fix: 'correct the setting' };
  if (error instanceof OverprivilegedLogin) {
    return { found: error.excess.join('; '), fix: error.fix.join(' ') };
  }
  const explained = explainFailure(error);
  if (explained !== undefined) return { found: explained, fix };
  if (error instanceof StoreUnavailable) return { found: error.message, fix };
  const told = tell(error);
  if (told !== undefined) return { found: told.message, fix: told.next };
  return { found: error instanceof Error ? `failed (${error.name})` : 'failed', fix };
}

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
