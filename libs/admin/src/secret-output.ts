import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import type { Context } from './context.ts';
import { UsageError } from './failure.ts';

export interface SecretOptions {
  /** Print it although stdout is a terminal. */
  readonly show?: true;
  /** A file to make for it. */
  readonly out?: string;
}

/** Where a secret goes that is seen once. Opened before the secret is made, so that none is made that nobody gets. */
export interface SecretOutput {
  /** The file that it goes to; undefined for stdout. */
  readonly file: string | undefined;
  /** Writes the secret to the file; for stdout the caller reports it. */
  deliver(secret: string): void;
  /** Nothing was made: no file is left behind. */
  discard(): void;
}

/** @throws UsageError when stdout is a terminal that was not asked, or the file exists or cannot be made */
export function openSecretOutput({ stdout }: Context, { show, out }: SecretOptions): SecretOutput {
  if (out === undefined) {
    if (stdout.isTTY && !show) {
      throw new UsageError(
        'This would print a secret on your terminal. Nothing was made.',
        'Give --out FILE to write it to a new file, pipe it on, or say --show to see it here.',
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

/** Runs `make` with a secret's output; a failure leaves no file behind. */
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
    const why = code === 'EEXIST' ? 'it exists already' : code;
    throw new UsageError(`Cannot make ${JSON.stringify(path)}: ${why}.`, 'Name a new file.');
  }
}
