import { CliError } from '../core/errors.ts';
import { abandon } from './to-the-end.ts';

const SERVICE = 'ori';
/** The user may be asked to unlock it, where somebody sees that. */
const ANSWER_SECONDS = 30;

/**
 * The secret of this account in the system keychain (Keychain of macOS, Credential Manager of Windows, Secret Service
 * of a Linux desktop), or undefined. Throws CliError `keychain_unusable` if there is no keychain or it stays locked for 30 s,
 * `interrupted`.
 */
export async function readSecret(account: string, interrupted: AbortSignal): Promise<string | undefined> {
  return (await using(account, interrupted, (entry) => entry.getPassword())) ?? undefined;
}

/** Stores the secret, replacing an earlier one. Throws like `readSecret`. */
export async function writeSecret(account: string, secret: string, interrupted: AbortSignal): Promise<void> {
  await using(account, interrupted, (entry) => entry.setPassword(secret));
}

/** Removes the secret. Returns whether it existed. Throws like `readSecret`. */
export async function removeSecret(account: string, interrupted: AbortSignal): Promise<boolean> {
  return using(account, interrupted, (entry) => entry.deletePassword());
}

type Entry = import('@napi-rs/keyring').AsyncEntry;

async function using<T>(
  account: string,
  interrupted: AbortSignal,
  work: (entry: Entry) => Promise<T>,
): Promise<T> {
  // An unlock prompt waits for the user, who may press Ctrl-C instead, or sits at another computer.
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new CliError('interrupted', {}));
  const timer = setTimeout(() => {
    abandon();
    reject(new CliError('keychain_unusable', { why: `it did not answer within ${ANSWER_SECONDS} s` }));
  }, ANSWER_SECONDS * 1000);
  givenUp.catch(() => {});
  interrupted.addEventListener('abort', abort, { once: true });
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // Not the kernel keyring, which is cleared at logout.
    const entry = new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
    return await Promise.race([work(entry), givenUp]);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError('keychain_unusable', { why: explain(error) }, { cause: error });
  } finally {
    clearTimeout(timer);
    interrupted.removeEventListener('abort', abort);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'for a reason unknown';
  if ('code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND'))
    return 'its library is not installed';
  if (/dbus|D-Bus/i.test(error.message)) return 'no Secret Service answers';
  return error.message.split('\n', 1).join().replace(/\.$/, '');
}
