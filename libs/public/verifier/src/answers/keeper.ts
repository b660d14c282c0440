import type { AnswerStore, CallEnd } from '../replay/replay-store.ts';
import { ANSWER_SECONDS, ANSWERS_BYTES_MAX } from '../replay/times.ts';
import { messageOf, warn } from '../warning.ts';

type Call = Parameters<AnswerStore['keep']>[0];

/** What the record of an answer takes, beside its headers and body. */
const RECORD_BYTES = 512;
/** An answer that is not kept would be reported as running for as long as this process lives. */
const RETRY_AFTER_MS = [100, 1000, 5000];
/** From then on, for as long as an answer is kept. */
const RETRY_EVERY_MS = 30_000;

/** An answer that the store has, or is to have. */
interface Kept extends Call {
  readonly bytes: number;
  readonly untilMs: number;
  /** What the store does not have yet. */
  end: CallEnd | undefined;
}

/** Puts the ends of calls into a store: again if it fails, and within `ANSWERS_BYTES_MAX` if it takes time. */
export function createKeeper(store: AnswerStore): (call: Call, end: CallEnd) => void {
  const all = new Set<Kept>();
  const people = new Map<string, { readonly kept: Set<Kept>; bytes: number }>();
  let bytes = 0;

  /** A person's answers take at most half of what the others leave: beyond it, their oldest are lost. */
  function count(kept: Kept): void {
    const person = people.get(kept.user) ?? { kept: new Set(), bytes: 0 };
    people.set(kept.user, person);
    person.kept.add(kept);
    all.add(kept);
    person.bytes += kept.bytes;
    bytes += kept.bytes;
    const nowMs = kept.untilMs - ANSWER_SECONDS * 1000;
    for (const each of all) {
      if (each.untilMs > nowMs) break;
      // The store has forgotten it too.
      drop(each);
    }
    for (const each of person.kept) {
      if (person.bytes + bytes <= ANSWERS_BYTES_MAX) break;
      drop(each);
      void put(Object.assign(each, { end: 'lost' }));
    }
  }

  function drop(kept: Kept): void {
    const person = people.get(kept.user);
    all.delete(kept);
    bytes -= kept.bytes;
    if (person === undefined) return;
    person.kept.delete(kept);
    person.bytes -= kept.bytes;
    if (person.kept.size === 0) people.delete(kept.user);
  }

  async function put(kept: Kept, begun?: Promise<void>): Promise<void> {
    let done = begun;
    for (let failures = 0; kept.end !== undefined; failures++) {
      const { end } = kept;
      try {
        await (done ?? store.keep(kept, end));
        if (kept.end === end) kept.end = undefined;
        return;
      } catch (error) {
        const pauseMs = RETRY_AFTER_MS[failures] ?? RETRY_EVERY_MS;
        if (performance.now() + pauseMs > kept.untilMs) {
          warn('answer_not_kept', messageOf(error));
          return;
        }
        await new Promise((resolve) => {
          // On some runtimes it is a number, without `unref`.
          const timer: { unref?(): unknown } = setTimeout(resolve, pauseMs);
          // A process that has nothing else to do ends.
          if (pauseMs === RETRY_EVERY_MS) timer.unref?.();
        });
        done = undefined;
      }
    }
  }

  return (call, end) => {
    const begun = attempt(store, call, end);
    // A store that has it now bounds itself.
    if (begun === undefined) return;
    const { policy, user, nonce } = call;
    const untilMs = performance.now() + ANSWER_SECONDS * 1000;
    const kept: Kept = { policy, user, nonce, bytes: bytesOf(end), untilMs, end };
    void put(kept, begun);
    if (typeof end === 'object') count(kept);
  };
}

function attempt(store: AnswerStore, call: Call, end: CallEnd): Promise<void> | undefined {
  try {
    return store.keep(call, end) ?? undefined;
  } catch (error) {
    return Promise.reject(error);
  }
}

function bytesOf(end: CallEnd): number {
  if (typeof end === 'string') return 0;
  let bytes = RECORD_BYTES + end.body.byteLength;
  for (const name in end.headers) bytes += name.length + (end.headers[name]?.length ?? 0);
  return bytes;
}
