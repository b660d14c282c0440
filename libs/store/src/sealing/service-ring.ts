import { Gauge, type Registry } from 'prom-client';
import { type KekOwner, type KekRing, ownerOf } from './kek-ring.ts';
import { readKekRing, watchKekRing } from './read-kek-ring.ts';

/** The part of a service's configuration that names its ring. */
export interface RingConfig {
  readonly kekFile: string;
  readonly kekShared: boolean;
}

/** The ring of a service: only keys made for it, unless `…_KEK_SHARED` takes keys that name no service. @throws ConfigError */
export function readServiceRing(owner: KekOwner, { kekFile, kekShared }: RingConfig): KekRing {
  const variable = `${owner.toUpperCase()}_KEK_FILE`;
  return readKekRing(kekFile, variable, { owner, allowShared: kekShared });
}

export interface RingLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Reads the ring, and follows its file until it is closed. @throws ConfigError */
export function openServiceRing(
  owner: KekOwner,
  config: RingConfig,
  log: RingLog,
): { readonly ring: KekRing; close(): void } {
  const read = () => readServiceRing(owner, config);
  const ring = read();
  const watch = watchKekRing({
    ...{ ring, read, path: config.kekFile },
    onChange: (kids) => log.info({ kids }, 'KEK ring read again'),
    onFailure: (err) => log.error({ err }, 'KEK ring unusable; the former one stays in use'),
  });
  return { ring, close: watch.close };
}

export const KEK_METRIC = 'ori_kek';

/** Which KEKs this instance holds, for `ori-admin kek`, alerts and people. The kids come from the ring's file. */
export function collectKeks(registry: Registry, ring: KekRing): void {
  new Gauge({
    name: KEK_METRIC,
    help: 'The KEKs in the instance’s ring, by kid: use is seals or opens, shared is true for one that names no service.',
    labelNames: ['kid', 'use', 'shared'],
    registers: [registry],
    collect() {
      this.reset();
      for (const kid of ring.kids) {
        const use = kid === ring.primary.kid ? 'seals' : 'opens';
        this.set({ kid, use, shared: String(ownerOf(kid) === undefined) }, 1);
      }
    },
  });
}
