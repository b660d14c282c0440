import { requireNames } from '../options.ts';
import { retentionSeconds, type Spend } from '../replay/replay-store.ts';
import {
  answerOf,
  type Bench,
  expectAnswer,
  newDigest,
  openBench,
  type ReplayStoreUnderTest,
  spendOf,
  untilSpent,
} from './replay-store-bench.ts';

const OPTION_NAMES: readonly (keyof ReplayStoreUnderTest)[] = [
  'open',
  'clock',
  'restart',
  'silence',
  'maxAgeSeconds',
  'clockToleranceSeconds',
];

/**
 * Tests what a verifier relies on (REPLAY-STORES.md): of many concurrent callers, through two open stores, exactly one spends a nonce;
 * nonces are remembered for as long as their proofs could be accepted, and after that refused by age, also when the clock goes back;
 * what is too far ahead is refused; interns do not share nonces; version 1 proofs, unless `attach` refuses them; a process that computes
 * for 0.3 s loses no spend; silent connections are replaced; and after a loss every earlier proof is
 * refused, and new ones are not.
 * @throws {Error} says what the store does wrong.
 * @throws {TypeError} for invalid options.
 */
export async function requireReplayStore(under: ReplayStoreUnderTest): Promise<void> {
  requireNames(under, OPTION_NAMES, 'requireReplayStore');
  if (under.clock !== 'injected' && under.clock !== 'real') {
    throw new TypeError(
      "clock: expected 'injected', if the store uses the clock passed to `open`, or 'real'",
    );
  }
  const bench = await openBench(under);
  await requireOnce(bench);
  await requireWindow(bench);
  await requireV1(bench);
  await requireAnswersOfBusy(bench);
  if (under.silence !== undefined) await requireReopening(bench, under);
  await requireMemory(bench);
  if (bench.isInjected) await requireFloor(bench);
  if (under.restart !== undefined) await requireFence(bench, under);
}

/** How many callers present the same proof concurrently. */
const CALLERS = 100;
/** N7: one of many; and interns do not share nonces. */
async function requireOnce(bench: Bench): Promise<void> {
  const [own, other] = [bench.policy(), bench.policy()];
  for (const policy of [own, other]) bench.attach(policy);
  const spent = await untilSpent(bench, own);
  await untilSpent(bench, other);
  const contested = spendOf(bench, own);
  const answers = await Promise.all(
    Array.from({ length: CALLERS }, (_, index) => answerOf(bench, contested, index % 2)),
  );
  const winners = answers.filter((answer) => answer === 'spent').length;
  if (winners !== 1) throw new Error(`spend: ${winners} of ${CALLERS} concurrent callers spent one nonce`);
  const losers = answers.filter((answer) => answer === 'nonce_replayed').length;
  if (losers !== CALLERS - 1) throw new Error('spend: expected nonce_replayed for all but one caller');
  await expectAnswer(bench, spent, ['nonce_replayed'], 'a nonce was spent twice');
  if ((await answerOf(bench, { ...contested, policy: other }, 1)) !== 'spent') {
    throw new Error('spend: two interns share their nonces');
  }
}

/** N1, N2. */
async function requireWindow(bench: Bench): Promise<void> {
  const policy = bench.policy();
  bench.attach(policy);
  await untilSpent(bench, policy);
  const at = (seconds: number): Spend =>
    spendOf(bench, policy, { timestamp: Math.floor(bench.seconds() + seconds) });
  const ahead = at(policy.clockToleranceSeconds + 2);
  await expectAnswer(
    bench,
    ahead,
    ['proof_not_yet_valid'],
    'accepted a proof from beyond its own clock (N1)',
  );
  const old = at(-retentionSeconds(policy) - 1);
  await expectAnswer(bench, old, ['proof_expired'], 'accepted a proof that it may have forgotten (N2)');
}

/** O1 to O6, unless the store refuses to accept version 1. */
async function requireV1(bench: Bench): Promise<void> {
  const policy = bench.policy({ acceptV1: true });
  try {
    bench.attach(policy);
  } catch (error) {
    if (error instanceof TypeError) return;
    throw error;
  }
  const v1Of = (v1Id: string): Spend => {
    const { nonce: _, ...spend } = spendOf(bench, policy);
    return { ...spend, v1Id: () => v1Id };
  };
  const v2Of = (v1Id: string): Spend => spendOf(bench, policy, { v1Id: () => v1Id });
  const replayed = ['nonce_replayed'];
  const first = await untilSpent(bench, policy, () => v1Of(newDigest()));
  await expectAnswer(bench, first, replayed, 'a version 1 proof was spent twice (O1)');
  await expectAnswer(
    bench,
    v2Of(first.v1Id()),
    replayed,
    'a version 2 proof was spent after its version 1 (O4)',
  );
  const marked = newDigest();
  for (const store of bench.stores.keys()) {
    if ((await answerOf(bench, v2Of(marked), store)) !== 'spent') {
      throw new Error('spend: refused one of two version 2 proofs of one request (O5)');
    }
    await expectAnswer(
      bench,
      v1Of(marked),
      replayed,
      'the stripped copy of a version 2 proof was spent (O2)',
    );
  }
}

const BUSY_MS = 300;

/** Answers that arrive while the process computes are not lost. */
async function requireAnswersOfBusy(bench: Bench): Promise<void> {
  const policy = bench.policy();
  bench.attach(policy);
  await untilSpent(bench, policy);
  const answers = [0, 1, 0, 1].map((index) => answerOf(bench, spendOf(bench, policy), index));
  await pause(0);
  for (const start = performance.now(); performance.now() - start < BUSY_MS; );
  for (const answer of await Promise.all(answers)) {
    if (answer === 'spent') continue;
    throw new Error(`spend: the process computed for ${BUSY_MS} ms and lost an answer`, { cause: answer });
  }
}

/** How long a store may need to replace silent connections, how often it is asked, and what shows that it did. */
const REOPEN_SECONDS = 5;
const ASK_APART_MS = 50;
const SPENT_IN_A_ROW = 10;

async function requireReopening(bench: Bench, { silence }: ReplayStoreUnderTest): Promise<void> {
  const policy = bench.policy();
  bench.attach(policy);
  await untilSpent(bench, policy);
  await silence?.();
  let inARow = 0;
  let last: unknown;
  const asked: Promise<void>[] = [];
  for (let waitedMs = 0; inARow < SPENT_IN_A_ROW; waitedMs += ASK_APART_MS) {
    if (waitedMs > REOPEN_SECONDS * 1000) {
      throw new Error('spend: the store keeps connections that are silent', { cause: last });
    }
    const answer = answerOf(bench, spendOf(bench, policy), asked.length % bench.stores.length);
    asked.push(
      answer.then((said) => {
        inARow = said === 'spent' ? inARow + 1 : 0;
        if (said !== 'spent') last = said;
      }),
    );
    await pause(ASK_APART_MS);
  }
  await Promise.all(asked);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const AHEAD_SECONDS = 300;

/** N3: proofs that were forgotten because of a fast clock are refused after the clock is corrected. */
async function requireFloor(bench: Bench): Promise<void> {
  const policy = bench.policy();
  bench.attach(policy);
  const spent = await untilSpent(bench, policy);
  const ahead = retentionSeconds(policy) + AHEAD_SECONDS;
  await bench.pass(ahead);
  await untilSpent(bench, policy);
  await bench.pass(-ahead);
  const why = 'accepted a proof again after a fast clock was corrected (N3)';
  await expectAnswer(bench, spent, ['nonce_replayed', 'proof_expired'], why);
  await bench.pass(-5);
  await expectAnswer(bench, spent, ['nonce_replayed', 'proof_expired', 'proof_not_yet_valid'], why);
  // Past the floor, for the tests that follow.
  await bench.pass(ahead + 5);
}

/** N8, and N3 for a verifier of a greater age. */
async function requireMemory(bench: Bench): Promise<void> {
  const policy = bench.policy();
  bench.attach(policy);
  const spent = await untilSpent(bench, policy);
  const { maxAgeSeconds } = policy;
  const retention = retentionSeconds(policy);
  for (const age of [1, maxAgeSeconds - 0.1, maxAgeSeconds + 0.9, retention - 1.5]) {
    const missing = spent.timestamp + age - bench.seconds();
    if (missing > 0) await bench.pass(missing);
    // Another spend, because many stores forget when they are used.
    await untilSpent(bench, policy);
    const why = `accepted a proof again ${age} s after its timestamp, within the ${retention} s of N8`;
    await expectAnswer(bench, spent, ['nonce_replayed'], why);
  }
  await bench.pass(spent.timestamp + retention + 1 - bench.seconds());
  await untilSpent(bench, policy);
  await expectAnswer(
    bench,
    spent,
    ['proof_expired'],
    'accepted a proof again that it may have forgotten (N2)',
  );
  const patient = { ...policy, maxAgeSeconds: 600 };
  bench.attach(patient);
  const why = 'accepted for a verifier of a greater age what it had forgotten for another (N3)';
  await expectAnswer(bench, { ...spent, policy: patient }, ['nonce_replayed', 'proof_expired'], why);
}

/** N4. */
async function requireFence(bench: Bench, { open, restart }: ReplayStoreUnderTest): Promise<void> {
  const policy = bench.policy();
  bench.attach(policy);
  const spent = await untilSpent(bench, policy);
  await restart?.();
  const latest = await open(() => bench.seconds() * 1000);
  latest.attach?.(policy);
  const reopened = { ...bench, stores: [...bench.stores, latest] };
  for (const index of reopened.stores.keys()) {
    if ((await answerOf(reopened, spent, index)) === 'spent') {
      throw new Error('spend: accepted a proof again that was spent before a loss (N4)');
    }
  }
  await untilSpent({ ...bench, stores: [latest] }, policy);
}
