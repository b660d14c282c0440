import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import type { Context } from './context.ts';
import { UsageError } from './failure.ts';

export interface SecretOptions {
  /** Print it even if stdout is a terminal. */
  readonly show?: true;
  readonly out?: string;
}

/**
 * Where a secret is written that is shown only once. Opened before the secret is created, so that it cannot get lost.
 */
export interface SecretOutput {
  /** The file to write to; undefined for stdout. */
  readonly file: string | undefined;
  /** Writes the secret to the file. For stdout, does nothing: the caller reports the secret. */
  deliver(secret: string): void;
  /** Removes the file, because no secret was created. */
  discard(): void;
}

/** @throws UsageError if stdout is a terminal and `show` is not set, or if the file exists or cannot be created */
export function openSecretOutput({ stdout }: Context, { show, out }: SecretOptions): SecretOutput {
  if (out === undefined) {
    if (stdout.isTTY && !show) {
      throw new UsageError(
        'This would print a secret on your terminal. Nothing was created.',
        'Write it to a new file with --out FILE, pipe it to a command, or show it here with --show.',
      );
    }
    return { file: undefined, deliver() {}, discard() {} };
  }
  const descriptor = createFile(out);
  return {
    file: out,
    deliver(secret) {
      writeSync(descriptor, secret);
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
    discard() {
      closeSync(descriptor);
      rmSync(out, { force: true });
    },
  };
}

/** Runs `make` with the output of a secret; a failure leaves no file behind. */
export async function withSecretOutput<Made>(
  context: Context,
  options: SecretOptions,
  make: (output: SecretOutput) => Promise<Made>,
): Promise<Made> {
  const output = openSecretOutput(context, options);
  try {
    return await make(output);
  } catch (error) {
    output.discard();
    throw error;
  }
}

function createFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const code = systemErrorCode(error);
    const why = code === 'EEXIST' ? 'it already exists' : code;
    throw new UsageError(`Cannot create ${JSON.stringify(path)}: ${why}.`, 'Name a new file.');
  }
}
