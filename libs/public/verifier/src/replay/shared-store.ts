import { UnavailableError } from '@ori/proof/wire';
import { requireNames } from '../options.ts';
import { createCallEnds } from './call-end.ts';
import type { AnswerStore, ReplayPolicy, ReplayStore, Spend } from './replay-store.ts';
import { LIFE_SECONDS } from './times.ts';

/** A replay store on a server that several processes share. */
export interface SharedReplayStore extends ReplayStore {
  attach(policy: ReplayPolicy): void;
  spend(spend: Spend): Promise<'spent'>;
  readonly answers: AnswerStore;
  /**
   * Waits until the store is usable: connected, safe, and with a fence for each verifier that uses it. `withinMs` is 5000 by default;
   * 0 checks once, for a health check. A proof signed a moment earlier may still be refused with `proof_before_fence`.
   * @throws {UnavailableError} of the last check: `replay_store_unavailable`, `replay_store_unsafe`, `replay_store_full`.
   * @throws {TypeError} no verifier uses the store yet.
   */
  ready(withinMs?: number): Promise<void>;
  /** The same as `ready(0)`. The store does it by itself at start, every few seconds, and when it suspects a change. */
  touch(): Promise<void>;
  /** Stops these checks. The client stays open: it belongs to the caller. */
  close(): void;
}

/** Options of every shared store. */
export interface SharedReplayStoreOptions {
  /**
   * How many replicas or standbys could be promoted. Half of them, rounded up, must acknowledge a spend. With 0, a failover can
   * accept a proof twice.
   */
  replicas?: number | undefined;
  /** Limit for one answer; 200 by default. */
  timeoutMs?: number | undefined;
  /** Interval between checks of the server's state; 2 by default. */
  touchSeconds?: number | undefined;
  /**
   * 32 bytes under which kept answers are sealed (AES-256-GCM), the same in every process of the daemon; absent, they are in the
   * server as plain text. Answers that were kept under another key are lost.
   *
   * @example answersKey: Buffer.from(process.env.ANSWERS_KEY, 'base64')
   */
  answersKey?: Uint8Array | undefined;
  /** Unix time in milliseconds for these checks; `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** The options with their defaults. Throws TypeError for values out of range, and for names other than these and `others`. */
export function requireSharedOptions(
  options: SharedReplayStoreOptions,
  others: readonly string[],
  where: string,
) {
  requireNames(options, ['replicas', 'timeoutMs', 'touchSeconds', 'answersKey', 'now', ...others], where);
  const { replicas = 0, timeoutMs = 200, touchSeconds = 2, answersKey, now = Date.now } = options;
  if (!(Number.isInteger(replicas) && replicas >= 0))
    throw new TypeError('replicas: expected an integer from 0');
  if (!(timeoutMs > 0 && timeoutMs <= 5000)) throw new TypeError('timeoutMs: expected 1 to 5000');
  if (!(touchSeconds > 0 && touchSeconds <= 60)) throw new TypeError('touchSeconds: expected up to 60');
  if (answersKey !== undefined && !(answersKey instanceof Uint8Array && answersKey.byteLength === 32))
    throw new TypeError('answersKey: expected 32 bytes');
  return { replicas, timeoutMs, touchSeconds, callEnds: createCallEnds(answersKey), now };
}

/**
 * Listens for the errors of a caller's client: Node ends the process at an 'error' event that nobody listens for, and a
 * client emits one whenever its connection breaks. The store learns of it from the spends and checks that fail.
 * Returns what tells the last error since the last 'ready'. Only one store of a client listens.
 */
export function surviveErrors(emitter: object): () => unknown {
  const known = surviving.get(emitter);
  if (known !== undefined) return known;
  let last: unknown;
  const tell = () => last;
  surviving.set(emitter, tell);
  // Not in the interfaces of the clients: an overload there would keep wrappers from passing `on` through.
  const { on } = emitter as { on(event: string, listener: (error?: unknown) => void): unknown };
  on.call(emitter, 'error', (error) => {
    last = error;
  });
  on.call(emitter, 'ready', () => {
    last = undefined;
  });
  return tell;
}

const surviving = new WeakMap<object, () => unknown>();

/** The number of intervals that a time limit is divided into. */
const PARTS = 4;

/**
 * Rejects with `toError()` after `limitMs`, without waiting for `answer` any longer. Time in which this process was blocked and could
 * not read answers does not count: each stall uses at most a quarter of the limit, and what has arrived is read before the rejection.
 */
export async function within<T>(limitMs: number, answer: Promise<T>, toError: () => Error): Promise<T> {
  let left = PARTS;
  let timer: NodeJS.Timeout | undefined;
  let reading: NodeJS.Immediate | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      left -= 1;
      if (left > 0) timer?.refresh();
      else reading = setImmediate(() => reject(toError()));
    }, limitMs / PARTS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    clearImmediate(reading);
  }
}

/** How many answers in a row may be missing before a store replaces its connections. */
const SILENT_MAX = 2;
/** How long new connections have until they are replaced too. */
const REOPEN_APART_MS = 1000;

/**
 * A connection whose other side was lost stays open and silent until the system gives it up, after a quarter of an hour. Calls `reopen`
 * after two missing answers in a row, at most once a second.
 */
export function watchSilence(reopen: () => void) {
  let silent = 0;
  let reopenedMs = Number.NEGATIVE_INFINITY;
  return {
    heard(): void {
      silent = 0;
    },
    missed(): void {
      silent += 1;
      if (silent < SILENT_MAX || performance.now() - reopenedMs < REOPEN_APART_MS) return;
      silent = 0;
      reopenedMs = performance.now();
      reopen();
    },
  };
}

/**
 * Who uses a store, and the checks that it makes by itself: when a verifier comes, and every `touchSeconds`.
 *
 * @param touchAll checks it for all policies, those too that are attached meanwhile
 */
export function attend(touchSeconds: number, touchAll: () => Promise<void>) {
  const policies = new Map<string, ReplayPolicy>();
  async function touch(): Promise<void> {
    if (policies.size === 0)
      throw new TypeError('no verifier uses this store yet: call createVerifier first');
    await touchAll();
  }
  const touchQuietly = (): void => void touch().catch(() => undefined);
  const timer = setInterval(touchQuietly, touchSeconds * 1000).unref();
  return {
    /** The policy of each intern: with version 1 or answers if one of its verifiers has them. */
    policies,
    touch,
    /** Checks, and leaves it to the next spend to learn that a check failed. */
    touchQuietly,
    ready: (withinMs?: number) => waitUntilReady(touch, withinMs),
    attach(policy: ReplayPolicy): void {
      if (policy.answers !== undefined && touchSeconds * 3 > LIFE_SECONDS) {
        // Too rare to show that this process lives.
        throw new TypeError(`touchSeconds: expected at most ${LIFE_SECONDS / 3} with answers`);
      }
      const known = policies.get(policy.internId);
      const acceptV1 = policy.acceptV1 || known?.acceptV1 === true;
      policies.set(policy.internId, { ...policy, acceptV1, answers: policy.answers ?? known?.answers });
      touchQuietly();
    },
    close: (): void => clearInterval(timer),
  };
}

const READY_WITHIN_MS = 5000;
const LOOK_AGAIN_MS = 50;

/** Checks until a check succeeds, for at most `withinMs`; 0 checks once. Throws the error of the last check. */
async function waitUntilReady(look: () => Promise<void>, withinMs = READY_WITHIN_MS): Promise<void> {
  if (!(withinMs >= 0)) throw new TypeError('ready: expected milliseconds');
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof UnavailableError) || performance.now() + LOOK_AGAIN_MS > endMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}
