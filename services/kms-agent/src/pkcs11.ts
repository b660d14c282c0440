import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { KmsError } from '@ori/sealing/key-wrapper';
import type { Pkcs11Config } from './config.ts';
import type { AgentKey, AgentLog } from './serve-transit.ts';

const TIMEOUT_MS = 4000;
const OUTPUT_BYTES_MAX = 256 * 1024;
/** 32 bytes, plus a tag or a block of padding. */
const SEALED_BYTES = 48;

interface Mode {
  readonly version: string;
  readonly ivBytes: number;
  readonly options: readonly string[];
}

/** Needs OpenSC 0.25. The additional data names the purpose: `ori kek`. */
const GCM: Mode = {
  version: 'pkcs11:v2:',
  ivBytes: 12,
  options: [
    '--mechanism',
    'AES-GCM',
    '--tag-bits-len',
    '128',
    '--aad',
    Buffer.from('ori kek').toString('hex'),
  ],
};

/** Does not authenticate. The `kid` of a KEK shows whether the unwrapped bytes are the key. */
const CBC: Mode = { version: 'pkcs11:v1:', ivBytes: 16, options: ['--mechanism', 'AES-CBC-PAD'] };

/**
 * An AES key on a PKCS#11 token, by OpenSC's `pkcs11-tool`. AES-GCM if both the token and this version of the command support it;
 * otherwise AES-CBC with padding.
 */
export function createPkcs11(config: Pkcs11Config, log: Pick<AgentLog, 'info'>): AgentKey {
  const { module, token, keyId } = config;
  const onToken = ['--module', module, '--token-label', token];
  let best: Mode | undefined;
  let pinRefused: PinRefused | undefined;

  async function findBest(signal: AbortSignal): Promise<Mode> {
    // Some versions exit with 1 after their help.
    const help = await runTool(config, ['--help'], { signal, mayFail: true });
    const mechanisms = await runTool(config, [...onToken, '--list-mechanisms'], { signal });
    const hasGcm = help.includes('--tag-bits-len') && /AES-GCM.*encrypt, decrypt/.test(mechanisms.toString());
    const mode = hasGcm ? GCM : CBC;
    log.info({ mechanism: mode.options[1], authenticated: hasGcm }, 'chose the wrapping mechanism');
    return mode;
  }

  async function call(
    operation: 'encrypt' | 'decrypt',
    { options }: Mode,
    { iv, ...run }: { iv: Buffer; input: Uint8Array; signal: AbortSignal },
  ): Promise<Buffer> {
    if (pinRefused) throw pinRefused;
    const login = ['--login', '--pin', 'env:ORI_PKCS11_PIN'];
    const what = [`--${operation}`, '--id', keyId, ...options, '--iv', iv.toString('hex')];
    try {
      return await runTool(config, [...onToken, ...login, ...what], run);
    } catch (error) {
      if (error instanceof PinRefused) pinRefused = error;
      throw error;
    }
  }

  return {
    async wrap(kek, signal) {
      best ??= await findBest(signal);
      const iv = randomBytes(best.ivBytes);
      const sealed = await call('encrypt', best, { iv, input: kek, signal });
      return best.version + Buffer.concat([iv, sealed]).toString('base64');
    },
    async unwrap(wrapped, signal) {
      const mode = [GCM, CBC].find(({ version }) => wrapped.startsWith(version));
      const bytes = Buffer.from(wrapped.slice(mode?.version.length), 'base64');
      if (mode === undefined || bytes.length !== mode.ivBytes + SEALED_BYTES) {
        throw new KmsError('refused', 'not wrapped by this agent');
      }
      const iv = bytes.subarray(0, mode.ivBytes);
      return await call('decrypt', mode, { iv, input: bytes.subarray(mode.ivBytes), signal });
    },
  };
}

/** A token counts wrong PINs, and few of them lock it; services ask again every two seconds. */
class PinRefused extends KmsError {
  constructor() {
    super('unavailable', 'the token refused the PIN; it is not tried again before a restart');
  }
}

/** The PIN is in the environment of the process, which only its user can read, and not in its arguments. */
function runTool(
  { tool, pin, environment }: Pkcs11Config,
  args: readonly string[],
  { input, signal, mayFail = false }: { input?: Uint8Array; signal: AbortSignal; mayFail?: boolean },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...environment, ORI_PKCS11_PIN: pin.reveal() },
      encoding: 'buffer' as const,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL' as const,
      signal,
      maxBuffer: OUTPUT_BYTES_MAX,
    };
    const child = execFile(tool, args, options, (error, stdout, stderr) => {
      if (error === null || (mayFail && !error.killed && stdout.length > 0)) return resolve(stdout);
      if (stderr.includes('CKR_PIN_')) return reject(new PinRefused());
      // Its output and its command line may contain secrets, so neither is included.
      const why = error.killed ? 'timed out' : `failed (${error.code ?? error.signal ?? 'unknown'})`;
      reject(new KmsError('unavailable', `pkcs11-tool ${why}`));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
