import { ProofError } from '@ori/proof';
import type { ReplayPolicy, ReplayStore, Spend } from './replay-store.ts';

/** What `requireReplayStore` tests. */
export interface ReplayStoreUnderTest {
  /** Opens the store. Called twice, over the same data, as two processes of a daemon would. */
  open(): ReplayStore | Promise<ReplayStore>;
  /** Causes a possible loss of spent nonces, such as a flush or a restart. Without it, that case is not tested. */
  restart?(): void | Promise<void>;
  /** How many callers present the same proof concurrently; 100 by default. */
  callers?: number;
  /** How long a new store may refuse new proofs with `proof_before_fence`; 10 s by default. */
  fenceSeconds?: number;
}

/**
 * Tests what a verifier relies on: of many concurrent callers, through two open stores, exactly one spends a nonce and the others get
 * `nonce_replayed`; interns do not share nonces; after a loss every earlier proof is refused.
 * @throws {Error} says what the store does wrong.
 */
export async function requireReplayStore(under: ReplayStoreUnderTest): Promise<void> {
  const { callers = 100, fenceSeconds = 10, restart } = under;
  const stores = [await under.open(), await under.open()];
  const id = crypto.randomUUID().replaceAll('-', '');
  const policy = (internId: string): ReplayPolicy => ({
    internId,
    maxAgeSeconds: 60,
    clockToleranceSeconds: 2,
    acceptV1: false,
  });
  const [own, other] = [policy(`int_${id}`), policy(`int_${id}_other`)];
  for (const store of stores) for (const each of [own, other]) store.attach?.(each);

  const spendOf = (nonce: string, of = own): Spend => ({
    policy: of,
    timestamp: Math.floor(Date.now() / 1000),
    nowMs: Date.now(),
    nonce,
    signingInput: new TextEncoder().encode(nonce),
    v1Id: () => nonceDigest(nonce),
  });
  const tryOn = async (store: ReplayStore | undefined, spend: Spend): Promise<unknown> => {
    try {
      return await store?.spend(spend);
    } catch (error) {
      return error instanceof ProofError ? error.code : error;
    }
  };
  const untilSpent = async (of = own): Promise<Spend> => {
    const endMs = Date.now() + fenceSeconds * 1000;
    for (;;) {
      const spend = spendOf(newNonce(), of);
      const answer = await tryOn(stores[0], spend);
      if (answer === 'spent') return spend;
      if (Date.now() > endMs) throw new Error("spend: expected 'spent' for a new nonce", { cause: answer });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  const spent = await untilSpent();
  await untilSpent(other);
  const contested = spendOf(newNonce());
  const answers = await Promise.all(
    Array.from({ length: callers }, (_, index) => tryOn(stores[index % 2], contested)),
  );
  const winners = answers.filter((answer) => answer === 'spent').length;
  if (winners !== 1) throw new Error(`spend: ${winners} of ${callers} concurrent callers spent one nonce`);
  const losers = answers.filter((answer) => answer === 'nonce_replayed').length;
  if (losers !== callers - 1) throw new Error('spend: expected nonce_replayed for all but one caller');
  for (const store of stores) {
    if ((await tryOn(store, spent)) === 'spent') throw new Error('spend: a nonce was spent twice');
  }
  if ((await tryOn(stores[1], { ...contested, policy: other })) !== 'spent') {
    throw new Error('spend: two interns share their nonces');
  }
  if (restart === undefined) return;
  await restart();
  for (const store of [...stores, await under.open()]) {
    store.attach?.(own);
    if ((await tryOn(store, contested)) === 'spent')
      throw new Error('spend: accepted a proof again that was spent before a loss');
  }
}

function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22);
}

/** 64 hex digits, different for each nonce. */
function nonceDigest(nonce: string): string {
  return [...nonce]
    .map((character) => character.charCodeAt(0).toString(16).padStart(2, '0'))
    .join('')
    .padEnd(64, '0')
    .slice(0, 64);
}
