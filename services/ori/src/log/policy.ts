import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { explainSystemError } from '@ori/faces/system-error';
import { createLogClient, type LogClient, type Remembered, rememberInFile } from '@ori/tlog/client';
import { TlogError } from '@ori/tlog/error';
import { renderVkey } from '@ori/tlog/note';
import { type Policy, parsePolicy, type TrustedCheckpoint } from '@ori/tlog/policy';
import { CliError } from '../core/errors.ts';
import { checkpointsFolder } from '../session/place.ts';
import type { Profile } from '../session/profile.ts';
import { readText } from './request.ts';

export interface PolicyOptions {
  readonly policy: string;
  /** A log's signature by Ed25519 needs one by ML-DSA-44 beside it. */
  readonly requireMlDsa?: boolean;
}

/** Throws CliError `log_file_unusable`, `usage`. */
export function readPolicy({ policy, requireMlDsa = false }: PolicyOptions): Promise<Policy> {
  return usable(policy, (text) => parsePolicy(text, { requireMlDsa }));
}

/**
 * The log of a policy with its address, and its latest checkpoint, which must extend the last trusted one: that is stored
 * in a file. Throws CliError `usage` for a policy without an address, `log_not_trusted`, `not_a_log`, `unreachable`.
 */
export async function openLog(
  profile: Profile,
  policy: Policy,
): Promise<{ client: LogClient; head: TrustedCheckpoint; address: string }> {
  const address = policy.logs.find(({ url }) => url !== undefined)?.url;
  if (address === undefined)
    throw new CliError('usage', { detail: 'The policy file has no address of the log.' });
  const client = createLogClient({ policy, remembered: rememberedOf(profile, policy) });
  const head = await client.latest().catch((error) => {
    throw error instanceof TlogError ? failureOf(error, address) : error;
  });
  return { client, head, address };
}

/** Throws CliError `usage` if the file cannot be read, `log_file_unusable` for what it contains. */
export async function usable<T>(file: string, parse: (text: string) => T): Promise<T> {
  const text = await readText(file);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new CliError('log_file_unusable', { file, why: error.message });
  }
}

/** A log that is not there, or is no log, is not one that cheats. */
function failureOf(error: TlogError, address: string): CliError {
  const { code, message: why, cause } = error;
  if (code === 'unavailable' && cause !== undefined)
    return new CliError('unreachable', { what: 'the log', address, why: explainSystemError(cause) });
  if (code === 'unavailable' || code === 'malformed') return new CliError('not_a_log', { address, why });
  return new CliError('log_not_trusted', { code, why });
}

/**
 * Throws CliError `log_not_trusted`, or `unreachable` if a log does not answer.
 *
 * @param address of the log that the work asks, if it asks one
 */
export async function trusted<T>(work: () => T | Promise<T>, address = ''): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    if (error.code === 'unavailable')
      throw new CliError('unreachable', { what: 'the log', address, why: error.message });
    throw new CliError('log_not_trusted', { code: error.code, why: error.message });
  }
}

function rememberedOf(profile: Profile, { logs }: Policy): Remembered {
  const keys = logs.map(({ key }) => renderVkey(key)).sort();
  const folder = checkpointsFolder(profile);
  const file = join(folder, createHash('sha256').update(keys.join('\n')).digest('hex'));
  const { load, save } = rememberInFile(file);
  return {
    load,
    async save(note) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await save(note);
      } catch (error) {
        throw new CliError('output_unwritable', { file, why: explainSystemError(error) });
      }
    },
  };
}
