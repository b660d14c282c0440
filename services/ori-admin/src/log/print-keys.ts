import { readSecretFile } from '@ori/runtime/secret-file';
import { createLogKeys, isSeed, renderVkeys } from '@ori/tlog/log-keys';
import type { Context } from '../context.ts';
import { UsageError } from '../failure.ts';

export interface KeysOptions {
  origin: string;
  keyFile: string;
  intern?: string;
}

/** Prints the verifier keys of a signing log. @throws UsageError for a file without a seed */
export function printKeys(admin: Context, { origin, keyFile, intern }: KeysOptions): void {
  const seed = readSecretFile(keyFile).trim();
  if (!isSeed(seed)) throw new UsageError(`${keyFile}: expected 32 bytes in base64.`);
  const keys = createLogKeys(origin, seed);
  const told = {
    ...renderVkeys(keys),
    ...(intern !== undefined && { v1_key: Buffer.from(keys.v1KeyOf(intern)).toString('base64') }),
  };
  admin.report(told, { lines: Object.entries(told).map(([name, value]) => `${name} ${value}`) });
}
