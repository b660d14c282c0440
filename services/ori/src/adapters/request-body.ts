import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { explainSystemError } from '@ori/faces/system-error';
import { createBodyDigest } from '@ori/proof/wire';
import { CliError } from '../core/errors.ts';

const CHUNK_BYTES = 256 * 1024;
/** Input that cannot be read twice is kept in memory up to this many bytes, beyond that in a temporary file. */
const MEMORY_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that were hashed once and can be sent several times. */
export interface RequestBody extends AsyncDisposable {
  readonly bytes: number;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  /**
   * The same bytes, hashed again. The last chunk is withheld until the digest matches, so that nobody receives a
   * complete body other than the hashed one. Otherwise throws CliError `body_changed` instead of that chunk.
   */
  chunks(): AsyncIterable<Uint8Array>;
}

export function bodyOf(bytes: Uint8Array): RequestBody {
  const digest = createBodyDigest();
  digest.update(bytes);
  return {
    bytes: bytes.length,
    sha256: digest.hex(),
    async *chunks() {
      if (bytes.length > 0) yield bytes;
    },
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * The bytes of a file, hashed in one pass. A pipe or a device is spooled first. Throws CliError
 * `body_unreadable`.
 */
export async function bodyOfFile(file: string, signal: AbortSignal): Promise<RequestBody> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    if ((await handle.stat()).isFile()) return await hashedFile(handle, file, signal);
    return await bodyOfStream(handle.createReadStream({ autoClose: true }), file, signal);
  } catch (error) {
    await handle?.close().catch(() => {});
    throw unreadable(error, file, signal);
  }
}

/**
 * The whole content of a stream, in memory or, if it is larger, in an unlinked temporary file. Throws CliError
 * `body_unreadable`, `body_not_kept`.
 */
export async function bodyOfStream(
  stream: Readable,
  name: string,
  signal: AbortSignal,
): Promise<RequestBody> {
  const kept: Buffer[] = [];
  let bytes = 0;
  let spool: FileHandle | undefined;
  const interrupt = () => stream.destroy(new CliError('interrupted', {}));
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    for await (const piece of stream) {
      const chunk: Buffer = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
      bytes += chunk.length;
      if (spool === undefined && bytes <= MEMORY_BYTES_MAX) kept.push(chunk);
      else {
        try {
          spool ??= await openSpool();
          for (const waiting of kept.splice(0)) await spool.writeFile(waiting);
          await spool.writeFile(chunk);
        } catch (error) {
          const facts = { folder: tmpdir(), why: explainSystemError(error) };
          throw new CliError('body_not_kept', facts, { cause: error });
        }
      }
    }
    return spool === undefined ? bodyOf(Buffer.concat(kept)) : await hashedFile(spool, name, signal);
  } catch (error) {
    await spool?.close().catch(() => {});
    throw unreadable(error, name, signal);
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

async function hashedFile(handle: FileHandle, file: string, signal: AbortSignal): Promise<RequestBody> {
  const digest = createBodyDigest();
  let bytes = 0;
  // Digested before the next chunk is read, so one buffer is enough.
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for await (const chunk of readAll(handle, () => buffer)) {
    signal.throwIfAborted();
    digest.update(chunk);
    bytes += chunk.length;
  }
  const sha256 = digest.hex();
  return {
    bytes,
    sha256,
    async *chunks() {
      const again = createBodyDigest();
      let read = 0;
      let held: Uint8Array | undefined;
      for await (const chunk of readAll(handle, () => Buffer.allocUnsafeSlow(CHUNK_BYTES))) {
        read += chunk.length;
        if (read > bytes) throw new CliError('body_changed', { file });
        if (held !== undefined) yield held;
        again.update(chunk);
        held = chunk;
      }
      if (again.hex() !== sha256) throw new CliError('body_changed', { file });
      if (held !== undefined) yield held;
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function* readAll(handle: FileHandle, nextBuffer: () => Buffer): AsyncIterable<Uint8Array> {
  for (let position = 0; ; ) {
    const chunk = nextBuffer();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

// Unlinked immediately, so that nothing is left however this process ends. Windows cannot do that; there the folder
// belongs to the user.
async function openSpool(): Promise<FileHandle> {
  const file = join(tmpdir(), `ori-body-${randomBytes(16).toString('hex')}`);
  const handle = await open(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600);
  if (process.platform !== 'win32') await rm(file);
  return handle;
}

function unreadable(error: unknown, file: string, signal: AbortSignal): CliError {
  if (signal.aborted) return new CliError('interrupted', {});
  if (error instanceof CliError) return error;
  return new CliError('body_unreadable', { file, why: explainSystemError(error) }, { cause: error });
}
