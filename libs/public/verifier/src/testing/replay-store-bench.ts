import { createNonce } from '@ori/proof/signing';
import { bodySha256, ProofError } from '@ori/proof/wire';
import type { ReplayPolicy, ReplayStore, Spend } from '../replay/replay-store.ts';

/** What `requireReplayStore` tests. */
export interface ReplayStoreUnderTest {
  /**
   * Opens the store. Called several times, over the same data, as the processes of a daemon would. With the clock `injected`, the store
   * must take its time from `now` (Unix milliseconds) alone.
   */
  open(now: () => number): ReplayStore | Promise<ReplayStore>;
  /**
   * Whether the test moves the clock of the store, or waits. `real` takes as long as the store must remember a proof: 94 s for the
   * default policy. It cannot test a clock that is corrected.
   */
  clock: 'injected' | 'real';
  /** Causes a possible loss of spent nonces, such as a flush or a restart. Without it, that case is not tested. */
  restart?(): void | Promise<void>;
  /**
   * Makes every open connection to the server fall silent without closing it, as a router does that lost its state; new ones are
   * served. Without it, that case is not tested.
   */
  silence?(): void | Promise<void>;
  /** The greatest values of the verifiers that will use the store; 60 and 2 by default. */
  maxAgeSeconds?: number | undefined;
  clockToleranceSeconds?: number | undefined;
}

/** How long a new store may refuse new proofs with `proof_before_fence`. */
const FENCE_SECONDS = 10;

/** Two open stores over the same data, and their clock. */
export interface Bench {
  readonly stores: readonly ReplayStore[];
  readonly isInjected: boolean;
  /** An intern of its own for each test. */
  policy(change?: Partial<ReplayPolicy>): ReplayPolicy;
  seconds(): number;
  /** Moves the injected clock, or waits. */
  pass(seconds: number): Promise<void>;
  attach(policy: ReplayPolicy): void;
}

export async function openBench(under: ReplayStoreUnderTest): Promise<Bench> {
  const isInjected = under.clock === 'injected';
  let movedMs = isInjected ? 3_600_000 : 0;
  const startMs = Date.now();
  const now = (): number => (isInjected ? startMs : Date.now()) + movedMs;
  const stores = [await under.open(now), await under.open(now)];
  const { maxAgeSeconds = 60, clockToleranceSeconds = 2 } = under;
  return {
    stores,
    isInjected,
    policy: (change) => ({
      internId: `int_${crypto.randomUUID().replaceAll('-', '')}`,
      maxAgeSeconds,
      clockToleranceSeconds,
      acceptV1: false,
      ...change,
    }),
    seconds: () => now() / 1000,
    async pass(seconds) {
      if (isInjected) movedMs += seconds * 1000;
      else if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    },
    attach(policy) {
      for (const store of stores) store.attach?.(policy);
    },
  };
}

export function spendOf(bench: Bench, policy: ReplayPolicy, change: Partial<Spend> = {}): Spend {
  const nonce = createNonce();
  const signingInput = new TextEncoder().encode(nonce);
  return {
    policy,
    timestamp: Math.floor(bench.seconds()),
    nowMs: bench.seconds() * 1000,
    nonce,
    signingInput,
    v1Id: () => bodySha256(signingInput),
    ...change,
  };
}

/** 'spent', the code of a ProofError, or anything else that was returned or thrown. */
export async function answerOf(bench: Bench, spend: Spend, index = 0): Promise<unknown> {
  try {
    return await bench.stores[index]?.spend({ ...spend, nowMs: bench.seconds() * 1000 });
  } catch (error) {
    return error instanceof ProofError ? error.code : error;
  }
}

/** Spends new nonces until one is past the fence of the store. */
export async function untilSpent(
  bench: Bench,
  policy: ReplayPolicy,
  draw = () => spendOf(bench, policy),
): Promise<Spend> {
  for (let waited = 0; ; waited += 0.25) {
    const spend = draw();
    const answer = await answerOf(bench, spend);
    if (answer === 'spent') return spend;
    if (waited >= FENCE_SECONDS) {
      throw new Error(`spend: expected 'spent' for a new nonce${clockHint(bench, answer)}`, {
        cause: answer,
      });
    }
    await bench.pass(0.25);
  }
}

export function clockHint({ isInjected }: Bench, answer: unknown): string {
  return isInjected && (answer === 'proof_not_yet_valid' || answer === 'proof_expired')
    ? ": does the store use the clock that was passed to `open`? If it cannot, test it with the clock 'real'"
    : '';
}

export async function expectAnswer(
  bench: Bench,
  spend: Spend,
  expected: readonly string[],
  why: string,
): Promise<void> {
  for (const index of bench.stores.keys()) {
    const answer = await answerOf(bench, spend, index);
    if (answer === 'spent') throw new Error(`spend: ${why}`);
    if (!expected.includes(String(answer))) {
      throw new Error(`spend: expected ${expected.join(' or ')}: ${why}`, { cause: answer });
    }
  }
}

export const newDigest = (): string => bodySha256(new TextEncoder().encode(createNonce()));
