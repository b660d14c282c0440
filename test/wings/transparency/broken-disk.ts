// Preloaded into the log's process: kills it, or makes its writes fail, at the disk operation that the environment names.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const dieAt = Number(process.env['BROKEN_DISK_DIE_AT'] ?? 0);
const [fullFrom = 0, fullTo = 0] = (process.env['BROKEN_DISK_FULL'] ?? '').split('-').map(Number);
let operations = 0;

type Operation = (this: unknown, ...args: unknown[]) => Promise<unknown>;

function breakable(owner: Record<string, Operation>, name: string): void {
  const real = owner[name] as Operation;
  owner[name] = async function (...args) {
    operations += 1;
    const writes = name === 'write' || name === 'writeFile';
    if (writes && operations >= fullFrom && operations < fullTo) {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    }
    if (operations !== dieAt) return real.apply(this, args);
    const [bytes] = args;
    // Half of a write is on the disk when the process dies.
    if (writes && Buffer.isBuffer(bytes)) await real.call(this, bytes.subarray(0, bytes.length >> 1));
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };
}

const handle = await fs.promises.open('/dev/null');
const prototype = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ['write', 'writeFile', 'datasync', 'sync', 'truncate']) breakable(prototype, name);
for (const name of ['rename', 'mkdir', 'open']) {
  breakable(fs.promises as unknown as Record<string, Operation>, name);
}
syncBuiltinESMExports();
