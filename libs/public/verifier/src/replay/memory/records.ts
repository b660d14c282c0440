import type { CallEnd, KeptAnswer } from '../replay-store.ts';
import { ANSWER_SECONDS, ANSWERS_BYTES_MAX, RUNNING_SECONDS_MAX } from '../times.ts';
import { createRing, type Ring } from './ring.ts';

/** The answers of one person. */
interface Person {
  readonly ring: Ring;
  /** The one that ended last. */
  last: Timed;
}

interface Timed {
  readonly user: string;
  readonly nonce: string;
  /** The calls of its intern. */
  readonly calls: Map<string, Timed>;
  /** For an answer, its place in the ring of its person. */
  end: number | Exclude<CallEnd, KeptAnswer> | 'running';
  /** When it began, then when it ended. */
  atMs: number;
  /** The one that ended next. */
  next: Timed | undefined;
}

/** The calls that are running, and how they ended. `uptime` is in milliseconds, and does not step. */
export function createRecords(uptime: () => number) {
  /** By intern and nonce, in the order in which they began. */
  const interns = new Map<string, Map<string, Timed>>();
  const people = new Map<string, Person>();
  /** What the rings take. */
  let bytes = 0;
  let oldest: Timed | undefined;
  let newest: Timed | undefined;
  let size = 0;
  let forgotMs = 0;

  function forget(nowMs: number): void {
    forgotMs = nowMs;
    for (; oldest !== undefined && oldest.atMs <= nowMs - ANSWER_SECONDS * 1000; oldest = oldest.next)
      drop(oldest);
    for (const calls of interns.values()) forgetRunning(calls, nowMs - RUNNING_SECONDS_MAX * 1000);
  }

  /** One that ended so long ago was forgotten before. */
  function forgetRunning(calls: Map<string, Timed>, untilMs: number): void {
    for (const record of calls.values()) {
      if (record.atMs > untilMs) return;
      drop(record);
    }
  }

  function drop(record: Timed): void {
    const { calls, nonce, user } = record;
    if (calls.delete(nonce)) size -= 1;
    const person = people.get(user);
    if (person?.last !== record) return;
    people.delete(user);
    bytes -= person.ring.size;
  }

  /** A person's answers take at most half of what the others leave, so nobody makes theirs lost. Undefined if there is no room. */
  function put(record: Timed, answer: KeptAnswer): number | undefined {
    const person = people.get(record.user) ?? { ring: createRing(mayHave), last: record };
    bytes -= person.ring.size;
    const place = person.ring.put(answer);
    bytes += person.ring.size;
    if (place === undefined) return undefined;
    person.last = record;
    people.set(record.user, person);
    return place;
  }

  /** While a ring puts, `bytes` are those of the others. */
  function mayHave(size: number): boolean {
    return 2 * size <= ANSWERS_BYTES_MAX - bytes;
  }

  return {
    get size() {
      return size;
    },
    begin(internId: string, nonce: string, user: string): void {
      const nowMs = uptime();
      if (nowMs - forgotMs >= FORGET_EVERY_MS) forget(nowMs);
      let calls = interns.get(internId);
      if (calls === undefined) {
        calls = new Map();
        interns.set(internId, calls);
      }
      calls.set(nonce, { user, nonce, calls, end: 'running', atMs: nowMs, next: undefined });
      size += 1;
    },
    end(internId: string, nonce: string, end: CallEnd): void {
      const record = interns.get(internId)?.get(nonce);
      if (record === undefined) return;
      if (record.end === 'running') {
        record.atMs = uptime();
        if (oldest === undefined || newest === undefined) oldest = record;
        else newest.next = record;
        newest = record;
      }
      record.end = typeof end === 'string' ? end : (put(record, end) ?? 'lost');
    },
    of(internId: string, nonce: string) {
      forget(uptime());
      const record = interns.get(internId)?.get(nonce);
      if (record === undefined) return undefined;
      const { user, end } = record;
      const ended: CallEnd | 'running' =
        typeof end === 'number' ? (people.get(user)?.ring.get(end) ?? 'lost') : end;
      return { user, end: ended };
    },
  };
}

const FORGET_EVERY_MS = 1000;
