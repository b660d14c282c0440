import { coreFileLimit } from './core-file-limit.ts';
import type { Logger } from './log.ts';

/** Logs at the start whether the process is hardened, and whether a crash would write its memory to disk. */
export function logHardening(log: Logger, weaknesses: readonly string[]): void {
  if (weaknesses.length === 0) log.info('hardened: the process runs under its permission flags');
  else log.warn({ may: weaknesses }, 'not hardened');
  const limit = coreFileLimit();
  if (limit !== undefined && limit !== '0') {
    log.warn({ limit }, 'a crash may write the memory of this process, including keys, to a core dump');
  }
}
