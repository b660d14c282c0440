import { readFileSync } from 'node:fs';
import type { Context } from './context.ts';
import { UsageError } from './failure.ts';

/** The longest provider key, as in the API. */
const CHARACTERS_MAX = 16_384;

/**
 * Reads a secret from a file or from stdin, without the final newline that an editor adds. Never from the command line,
 * which every process on the machine can read.
 */
export async function readSecret(
  { stdin }: Context,
  { keyFile }: { readonly keyFile?: string },
): Promise<string> {
  const text = decode(keyFile === undefined ? await readStdin(stdin) : readFileSync(keyFile));
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '')
    throw new UsageError('The key is empty.', 'Pipe it in, or name its file: --key-file FILE');
  if (secret.length > CHARACTERS_MAX) {
    throw new UsageError(
      `The key is longer than ${CHARACTERS_MAX} characters.`,
      'Check that this is the right file.',
    );
  }
  return secret;
}

async function readStdin(stdin: Context['stdin']): Promise<Uint8Array> {
  if (stdin.isTTY) {
    throw new UsageError(
      'A key typed here would stay on the screen.',
      'Pipe it in (… < key.txt), or name its file: --key-file FILE',
    );
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    // At most four bytes a character; anything longer is refused.
    if (length > CHARACTERS_MAX * 4) break;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError('The key is not valid UTF-8.', 'Check that this is the right file.');
  }
}
