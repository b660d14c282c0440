import { unwatchFile, watchFile } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { instrumentsOf, type Registry } from '@ori/runtime/instruments';
import type { Logger } from '@ori/runtime/log';
import type { KekOwner, KekRing } from './kek-ring.ts';
import { KmsError } from './key-wrapper.ts';
import { openRingFile, type RingFile, readRingFile } from './read-kek-ring.ts';

/** The part of a service's configuration that names its ring. */
export interface RingConfig {
  readonly kekFile: string;
  readonly kmsUrl?: string | undefined;
  readonly kmsTokenFile?: string | undefined;
}

const LOOK_EVERY_MS = 1000;
const ASK_KMS_EVERY_MS = 2000;

/** A service accepts only keys made for it. */
const fileOf = (owner: KekOwner, { kekFile, ...kms }: RingConfig): RingFile => ({
  ...kms,
  path: kekFile,
  variable: `${owner.toUpperCase()}_KEK_FILE`,
  rules: { owner },
});

/** Validates the ring without calling the KMS. @throws ConfigError */
export function checkServiceRing(owner: KekOwner, config: RingConfig): void {
  readRingFile(fileOf(owner, config));
}

type RingLog = Pick<Logger, 'info' | 'error'>;

/**
 * Opens the ring and reloads it when its file changes, until it is closed; the file may be a link that is replaced (a
 * mounted Kubernetes secret). If the KMS does not unwrap its keys, the call is repeated every two seconds: the start waits
 * for it; later the previous ring stays in use.
 *
 * @throws ConfigError
 */
export async function openServiceRing(owner: KekOwner, config: RingConfig, log: RingLog) {
  const file = fileOf(owner, config);
  const opening = untilKmsAnswers(file, log);
  let reading = new AbortController();
  const look = async () => {
    reading.abort();
    reading = new AbortController();
    const { signal } = reading;
    try {
      const ring = await opening;
      const next = await untilKmsAnswers(file, log, signal);
      if (signal.aborted) return;
      ring.replaceBy(next);
      log.info({ kids: ring.kids }, 'KEK ring reloaded');
    } catch (err) {
      if (!signal.aborted) log.error({ err }, 'KEK ring unusable; the previous one stays in use');
    }
  };
  const listener = () => void look();
  const close = () => {
    reading.abort();
    unwatchFile(file.path, listener);
  };
  // While it is opened for the first time too, so that no change is missed.
  watchFile(file.path, { interval: LOOK_EVERY_MS, persistent: false }, listener);
  try {
    return { ring: await opening, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function untilKmsAnswers(file: RingFile, log: RingLog, signal?: AbortSignal): Promise<KekRing> {
  for (;;) {
    try {
      return await openRingFile(file);
    } catch (err) {
      if (!(err instanceof KmsError)) throw err;
      log.error({ err }, 'the KMS did not unwrap the KEK ring; trying again');
    }
    // The timer must keep the process alive during the start, and not afterwards.
    await pause(ASK_KMS_EVERY_MS, undefined, signal ? { signal, ref: false } : {});
  }
}

export const KEK_METRIC = 'ori_kek';

/** The KEKs of this instance, for `ori-admin kek`, alerts and operators. The kids come from the file of the ring. */
export function collectKeks(registry: Registry, ring: KekRing): void {
  instrumentsOf(registry).readings(
    KEK_METRIC,
    'The KEKs in the instance’s ring, by kid: use is seals or opens.',
    ['kid', 'use'],
    () =>
      ring.kids.map((kid) => {
        const use = kid === ring.primary.kid ? 'seals' : 'opens';
        return [{ kid, use }, 1];
      }),
  );
}
