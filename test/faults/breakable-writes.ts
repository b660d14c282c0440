import { write } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * What the disk does with a write. `full`: fails it. `frozen`: blocks it until thawed. `slowMs`: delays it, at most until repaired.
 * `short`: writes all but the last 100 bytes, then is full.
 */
export type DiskState = 'good' | 'full' | 'frozen' | 'short' | { readonly slowMs: number };

let state: DiskState = 'good';
let thawed = Promise.withResolvers<void>();
const plain = promisify(write);

/** Affects modules loaded after this file that write through `promisify(fs.write)`, as the audit file does. */
export function setDisk(next: DiskState): void {
  state = next;
  if (next !== 'frozen') {
    thawed.resolve();
    thawed = Promise.withResolvers();
  }
}

async function breakable(fd: number, bytes: Buffer, offset: number, length: number, at: null) {
  if (state === 'frozen') await thawed.promise;
  if (typeof state === 'object') await Promise.race([pause(state.slowMs), thawed.promise]);
  const cut = state === 'short' && length > 100;
  if (state === 'full' || (state === 'short' && !cut)) {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  }
  return plain(fd, bytes, offset, cut ? length - 100 : length, at);
}

Object.defineProperty(write, promisify.custom, { value: breakable, configurable: true });
