import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type KeyWrapper, KmsError } from '@ori/store/sealing';
import type { Pkcs11Config } from './config.ts';

const TIMEOUT_MS = 4000;
const OUTPUT_BYTES_MAX = 4096;
const IV_BYTES = 16;
const VERSION = 'pkcs11:v1:';

/**
 * An AES key on a PKCS#11 token, by OpenSC's `pkcs11-tool`: AES-CBC with padding, what every version of it offers. That
 * does not authenticate; the `kid` of a KEK shows whether what was unwrapped is the key. One call at a time, for tokens with
 * one session.
 */
export function createPkcs11(config: Pkcs11Config): KeyWrapper {
  const { module, token, keyId } = config;
  let last: Promise<unknown> = Promise.resolve();
  const call = (operation: 'encrypt' | 'decrypt', iv: Buffer, input: Uint8Array): Promise<Buffer> => {
    const args = [
      ...['--module', module, '--token-label', token, '--login', '--pin', 'env:ORI_PKCS11_PIN'],
      ...[`--${operation}`, '--id', keyId, '--mechanism', 'AES-CBC-PAD', '--iv', iv.toString('hex')],
    ];
    const mine = last.then(() => runTool(config, args, input));
    last = mine.catch(() => {});
    return mine;
  };
  return {
    async wrap(kek) {
      const iv = randomBytes(IV_BYTES);
      return VERSION + Buffer.concat([iv, await call('encrypt', iv, kek)]).toString('base64');
    },
    async unwrap(wrapped) {
      const bytes = Buffer.from(wrapped.slice(VERSION.length), 'base64');
      if (!wrapped.startsWith(VERSION) || bytes.length <= IV_BYTES || bytes.length % IV_BYTES !== 0) {
        throw new KmsError('refused', 'not wrapped by this agent');
      }
      return await call('decrypt', bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES));
    },
  };
}

/** The PIN is in the environment of the process, which only its user can read, and not in its arguments. */
function runTool(
  { tool, pin, environment }: Pkcs11Config,
  args: readonly string[],
  input: Uint8Array,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...environment, ORI_PKCS11_PIN: pin.reveal() },
      ...{ encoding: 'buffer' as const, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const },
      maxBuffer: OUTPUT_BYTES_MAX,
    };
    const child = execFile(tool, args, options, (error, stdout) => {
      if (error === null) return resolve(stdout);
      // Neither what it wrote nor its command line is passed on.
      const why = error.killed
        ? 'gave no answer in time'
        : `failed (${error.code ?? error.signal ?? 'unknown'})`;
      reject(new KmsError('unavailable', `pkcs11-tool ${why}`));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
