import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import type { Verifier } from '../../../libs/public/verifier/src/verifier.ts';
import { createAdversary, type Presenting, type Stripping } from './adversary.ts';
import { openHistory } from './history.ts';
import { type Clock, loadLibrary, type StoreAddress } from './open-store.ts';
import { createProofs, type Proof, toRequest } from './proofs.ts';
import { createRandom } from './random.ts';

/** The task of a verifier process. */
export interface VerifierTask {
  /** Unique among the processes of a run. */
  readonly tag: string;
  /** Folder of the library's sources. */
  readonly library: string;
  readonly internId: string;
  /** The seed of the signing key, in hexadecimal. */
  readonly keySeed: string;
  readonly maxAgeSeconds: number;
  readonly clockToleranceSeconds: number;
  readonly store: StoreAddress;
  /** The random seed for callers and adversary. */
  readonly seed: string;
  readonly history: string;
  readonly callers: number;
  readonly adversaries: number;
  /** Calls a second, whatever their answers, with a replay after every tenth. Absent: callers and adversaries without pause. */
  readonly perSecond?: number;
  readonly clock: ClockError;
}

export interface ClockError {
  /** The error of this process's wall clock, in milliseconds. */
  readonly errorMs: number;
  /** How far the time of this world, in all its processes, is ahead of real time, in milliseconds. */
  readonly sleptMs: number;
}

export type Order =
  | { readonly order: 'hear'; readonly proofs: readonly Proof[] }
  | { readonly order: 'go to'; readonly url: string }
  | { readonly order: 'clock'; readonly clock: ClockError }
  | { readonly order: 'strip'; readonly stripping: Stripping }
  | { readonly order: 'worst moment' }
  | { readonly order: 'compute'; readonly ms: number };

export type Word =
  | { readonly word: 'ready' }
  | { readonly word: 'signed'; readonly proofs: readonly Proof[] };

const SHARE_MS = 10;
/** A pause after a refusal, so that an unavailable store is not polled in a tight loop and refusals do not fill the history. */
const REFUSED_PAUSE_MS = 8;

process.once('message', (task: VerifierTask) => void run(task));
// Exits with its parent.
process.once('disconnect', () => process.exit());

async function run(task: VerifierTask): Promise<void> {
  const random = createRandom(task.seed);
  const history = openHistory(task.history);
  const proofs = createProofs({
    internId: task.internId,
    seed: Buffer.from(task.keySeed, 'hex'),
    tag: task.tag,
  });
  const adversary = createAdversary(random.derive('adversary'), task.maxAgeSeconds);
  let off = task.clock;
  const clock: Clock = {
    now: () => Date.now() + off.sleptMs + off.errorMs,
    uptime: () => performance.now() + off.sleptMs,
  };
  const library = loadLibrary(task.library);
  const { replay, goTo } = await library.openStore(task.store, clock);
  const make = (acceptV1: boolean): Promise<Verifier> =>
    library.createVerifier({
      internId: task.internId,
      keys: createLocalKeySet(proofs.jwks),
      replay,
      acceptV1,
      maxAgeSeconds: task.maxAgeSeconds,
      clockToleranceSeconds: task.clockToleranceSeconds,
      now: clock.now,
    });
  const verifier = await make(false);
  /** Created on first use. From then on this process also accepts version 1. */
  let lenient: Verifier | undefined;
  let signed: Proof[] = [];

  /** A delayed proof keeps the time at which it was signed. */
  async function present({ proof, form, kind }: Presenting, sentMs = Date.now()): Promise<void> {
    const judge = form === 'stripped' || (lenient && random.chance(0.5)) ? (lenient ?? verifier) : verifier;
    let verdict = 'accepted';
    try {
      await judge.verify(toRequest(proof, form));
    } catch (refusal) {
      verdict = (refusal as { code?: string }).code ?? `${refusal}`.replaceAll(/\s/g, '_');
    }
    history.record({ kind, id: proof.id, verdict, sentMs, answeredMs: Date.now() });
    if (verdict === 'accepted') adversary.accepted(proof);
    if (verdict.startsWith('replay_store_')) adversary.unanswered(proof);
    // Many answers arrive without waiting, and orders must be processed in between.
    if (verdict === 'accepted' || verdict === 'nonce_replayed') await breathe();
    else await pause(REFUSED_PAUSE_MS);
  }

  /** Signs like the signer, with the true time, and sometimes as far ahead as the tolerance allows. */
  async function call(): Promise<void> {
    const isAhead = random.chance(0.3);
    const signedMs = Date.now();
    const nowSeconds = Math.floor((signedMs + off.sleptMs) / 1000);
    const proof = proofs.sign(nowSeconds + (isAhead ? task.clockToleranceSeconds : 0));
    adversary.hear(proof);
    signed.push(proof);
    const turn = random.next();
    if (turn < 0.02) await present({ proof, form: 'forged', kind: 'forged' });
    if (adversary.stripping === 'before' && turn > 0.5) {
      await present({ proof, form: 'stripped', kind: 'stripped' });
      await present({ proof, form: 'whole', kind: 'replay' });
    } else {
      await present({ proof, form: 'whole', kind: isAhead ? 'ahead' : 'fresh' }, signedMs);
    }
  }

  async function replayOne(): Promise<void> {
    const presenting = adversary.next(clock.now() / 1000);
    if (!presenting) return void (await pause(SHARE_MS));
    await present(presenting);
  }

  process.on('message', async (order: Order) => {
    switch (order.order) {
      case 'hear':
        for (const proof of order.proofs) adversary.hear(proof);
        break;
      case 'go to':
        goTo(order.url);
        break;
      case 'clock':
        off = order.clock;
        break;
      case 'strip':
        if (order.stripping !== 'off') lenient ??= await make(true);
        adversary.stripping = order.stripping;
        break;
      case 'worst moment':
        adversary.worstMoment();
        break;
      case 'compute':
        for (const untilMs = performance.now() + order.ms; performance.now() < untilMs; );
    }
  });

  const say = (word: Word): void => void process.send?.(word);
  setInterval(() => {
    history.flush();
    if (signed.length > 0) say({ word: 'signed', proofs: signed });
    signed = [];
  }, SHARE_MS);
  say({ word: 'ready' });

  if (task.perSecond !== undefined) {
    const fromMs = performance.now();
    let made = 0;
    setInterval(() => {
      for (const due = ((performance.now() - fromMs) / 1000) * (task.perSecond ?? 0); made < due; made += 1) {
        void call();
        if (made % 10 === 0) void replayOne();
      }
    }, SHARE_MS / 2);
    return;
  }
  const forever = async (act: () => Promise<void>): Promise<never> => {
    for (;;) await act();
  };
  await Promise.all([
    ...Array.from({ length: task.callers }, () => forever(call)),
    ...Array.from({ length: task.adversaries }, () => forever(replayOne)),
  ]);
}
