import { setTimeout as pause } from 'node:timers/promises';
import { followFiles } from '@ori/runtime/follow-files';
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

const ASK_KMS_EVERY_MS = 2000;

/** The file of a service's ring. */
export const ringFileOf = (owner: KekOwner, { kekFile, ...kms }: RingConfig): RingFile => ({
  ...kms,
  path: kekFile,
  variable: `${owner.toUpperCase()}_KEK_FILE`,
  owner,
});

/** Validates the ring without calling the KMS. @throws ConfigError */
export function checkServiceRing(owner: KekOwner, config: RingConfig): void {
  readRingFile(ringFileOf(owner, config));
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
  const file = ringFileOf(owner, config);
  const { first: ring, close } = await followFiles(
    [file.path],
    (signal) => untilKmsAnswers('the KEK ring', () => openRingFile(file), log, signal),
    {
      changed(next, ring) {
        ring.replaceBy(next);
        log.info({ kids: ring.kids }, 'KEK ring reloaded');
      },
      failed: (err) => log.error({ err }, 'KEK ring unusable; the previous one stays in use'),
    },
  );
  return { ring, close };
}

/**
 * What `open` returns, which is repeated every two seconds while the KMS does not unwrap what it needs.
 *
 * @param what for the log, as in `the KEK ring`
 * @throws what `open` throws, other than KmsError; the reason of the signal
 */
export async function untilKmsAnswers<T>(
  what: string,
  open: () => Promise<T>,
  log: Pick<Logger, 'error'>,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await open();
    } catch (err) {
      if (!(err instanceof KmsError)) throw err;
      log.error({ err }, `the KMS did not unwrap ${what}; trying again`);
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
