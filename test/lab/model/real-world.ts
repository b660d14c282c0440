import { randomBytes } from 'node:crypto';
import { ProofError, UnavailableError } from '@ori/proof';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import { memoryReplayStore } from '../../../libs/public/verifier/src/replay/memory/store.ts';
import { spentKey } from '../../../libs/public/verifier/src/replay/redis/keys.ts';
import { issuedKey } from '../../../libs/public/verifier/src/replay/redis/reservation.ts';
import { redisReplayStore } from '../../../libs/public/verifier/src/replay/redis/store.ts';
import type { ReplayStore } from '../../../libs/public/verifier/src/replay/replay-store.ts';
import type { SharedReplayStore } from '../../../libs/public/verifier/src/replay/shared-store.ts';
import { createVerifier, type OpenProof, type Verifier } from '../../../libs/public/verifier/src/verifier.ts';
import { memoryNonces } from '../../../services/signer/src/effects/memory-nonces.ts';
import { redisNonces } from '../../../services/signer/src/effects/nonces.ts';
import type { Action, Break } from './actions.ts';
import { type Configuration, type Issue, KEPT, TOLERANCE } from './configuration.ts';
import {
  jwksOf,
  MAX_AGE_SECONDS,
  nonceOf,
  realInputV2,
  requestOf,
  secondsOf,
  TOLERANCE_SECONDS,
  UNIT_SECONDS,
} from './real-proofs.ts';
import { clientOn, type RealRedis, type Wire } from './real-redis.ts';
import { entry, LONG_AGO, type State } from './state.ts';

interface Daemon {
  verifier: Verifier;
  store: SharedReplayStore | undefined;
  open: { proof: OpenProof; body: Uint8Array } | undefined;
}

/** Like the model's initial state: a store that began long ago. */
export async function startRealWorld(configuration: Configuration, initial: State, server: RealRedis) {
  const run = randomBytes(6).toString('hex');
  const names = { internId: (intern: number) => `int_${run}_${intern}` };
  const { verifiers, mode, entriesMax } = configuration;
  const isMemory = configuration.store === 'memory';
  const { redis } = server;
  let current: State = { ...initial, time: isMemory ? LONG_AGO : LONG_AGO - TOLERANCE };
  const keptSeconds = KEPT * UNIT_SECONDS;
  const nonces = isMemory
    ? memoryNonces(keptSeconds, () => secondsOf(current.time) * 1000)
    : redisNonces(redis, keptSeconds);
  const wallMs = (index: number): number =>
    secondsOf(current.time + entry(current.verifiers, index).clock) * 1000;
  const wire: Wire = {
    seconds: () => secondsOf(current.time + entry(current.servers, 0).clock),
    delivery: 'arrives',
  };

  function startDaemon(index: number, replay: ReplayStore, store?: SharedReplayStore): Daemon {
    const { intern, acceptV1 } = entry(verifiers, index);
    const verifier = createVerifier({
      internId: names.internId(intern),
      keys: createLocalKeySet(jwksOf(entry(initial.keys, intern))),
      replay,
      maxAgeSeconds: MAX_AGE_SECONDS,
      clockToleranceSeconds: TOLERANCE_SECONDS,
      acceptV1,
      now: () => wallMs(index),
    });
    return { verifier, store, open: undefined };
  }
  function startInMemory(): Daemon[] {
    const uptime = (): number => secondsOf(current.time) * 1000;
    const replay = memoryReplayStore({ entriesMax, now: () => wallMs(0), uptime });
    return verifiers.map((_, index) => startDaemon(index, replay));
  }
  function startOnRedis(index: number): Daemon {
    const now = (): number => wallMs(index);
    const store = redisReplayStore(clientOn(redis, wire), { mode, timeoutMs: 5000, touchSeconds: 60, now });
    return startDaemon(index, store, store);
  }
  const touch = async ({ store }: Daemon): Promise<void> =>
    void (await store?.touch().catch(() => undefined));
  const touchAll = async (): Promise<void> => {
    for (const daemon of daemons) await touch(daemon);
  };

  let daemons = isMemory ? startInMemory() : verifiers.map((_, index) => startOnRedis(index));
  await touchAll();
  if (!isMemory) {
    for (const { intern } of verifiers) await redis.zrem(spentKey(names.internId(intern)), 'v1');
  }

  async function cause({ fault, who = 0 }: Break): Promise<void> {
    switch (fault) {
      case 'flush':
        await redis.flushdb();
        return;
      case 'crash':
        return server.crash();
      case 'swap':
        await redis.swapdb(0, 1);
        return touchAll();
      case 'policy': {
        const policy = entry(current.servers, 0).evicts ? 'allkeys-lru' : 'noeviction';
        await redis.config('SET', 'maxmemory-policy', policy);
        return;
      }
      case 'restart': {
        if (isMemory) {
          daemons = startInMemory();
          return;
        }
        entry(daemons, who).store?.close();
        wire.delivery = 'nothing-passes';
        daemons[who] = startOnRedis(who);
        await touch(entry(daemons, who));
        wire.delivery = 'arrives';
        return;
      }
      case 'verifier-clock':
      case 'signer-clock':
      case 'all-clocks':
        return;
      default:
        throw new Error(`${fault} cannot be done to one server`);
    }
  }

  /** Reserves a nonce as the signer does before it signs. `drawn` nonces came before. */
  async function issue({ by, draw, ...named }: Issue, drawn: number): Promise<string> {
    if (by !== 'signer') return current.proofs.length > drawn ? 'made' : 'no key';
    const at = current.time + current.signerClock;
    const proof = { ...named, at, nonce: draw === 'again' ? 0 : drawn, key: 0, issued: true };
    const internId = names.internId(named.intern);
    const signingInput = realInputV2(names, proof);
    const isReserved = await nonces.reserve({ internId, nonce: nonceOf(proof.nonce), signingInput });
    return isReserved ? 'issued' : 'nonce taken';
  }

  return {
    /** Performs the action with the clocks of `state`, the model's resulting state. Returns the verdict. */
    async perform(action: Action, state: State): Promise<string | undefined> {
      const drawn = current.proofs.length;
      current = state;
      switch (action.do) {
        case 'issue':
          return issue(action.issue, drawn);
        case 'tick':
          await expireReservations();
          await touchAll();
          return undefined;
        case 'touch':
          await touch(entry(daemons, action.by));
          return undefined;
        case 'break':
          await cause(action);
          return undefined;
        case 'begin': {
          const daemon = entry(daemons, action.to);
          const request = requestOf(names, entry(state.proofs, action.proof), 'pair', 'none');
          return said(async () => {
            daemon.open = { proof: daemon.verifier.begin(request), body: request.body };
            return 'begun';
          });
        }
        case 'finish': {
          const daemon = entry(daemons, action.to);
          const { open } = daemon;
          if (open === undefined) return undefined;
          daemon.open = undefined;
          open.proof.update(open.body);
          return said(async () => (await open.proof.finish()) && 'accepted');
        }
        case 'present': {
          const { form, change, delivery, to } = action;
          const request = requestOf(names, entry(state.proofs, action.proof), form, change);
          wire.delivery = delivery;
          const verdict = await said(
            async () => (await entry(daemons, to).verifier.verify(request)) && 'accepted',
          );
          wire.delivery = 'arrives';
          return verdict;
        }
      }
    },
    close(): void {
      for (const { store } of daemons) store?.close();
    },
  };

  /** The server's own clock does not advance with the model's, so expired reservations are deleted here. */
  async function expireReservations(): Promise<void> {
    if (isMemory) return;
    for (const { intern, nonce, until } of current.reservations) {
      if (until <= current.time) await redis.del(issuedKey(names.internId(intern), nonceOf(nonce)));
    }
  }
}

async function said(judge: () => Promise<string>): Promise<string> {
  try {
    return await judge();
  } catch (error) {
    if (error instanceof ProofError || error instanceof UnavailableError) return error.code;
    throw error;
  }
}
