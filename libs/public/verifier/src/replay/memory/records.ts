import { ANSWER_SECONDS, type CallEnd, RUNNING_SECONDS_MAX } from '../replay-store.ts';

/** The calls that are running, and how they ended. */
export interface Records {
  readonly size: number;
  begin(internId: string, nonce: string, user: string): void;
  end(internId: string, nonce: string, end: CallEnd): void;
  of(internId: string, nonce: string): CallRecord | undefined;
}

export interface CallRecord {
  readonly user: string;
  /** Its body is part of a larger buffer. */
  readonly end: CallEnd | 'running';
}

interface Timed extends CallRecord {
  readonly nonce: string;
  /** The calls of its intern. */
  readonly calls: Map<string, Timed>;
  end: CallEnd | 'running';
  /** When it began, then when it ended. */
  atMs: number;
  /** The one that ended next. */
  next: Timed | undefined;
}

/** `uptime` is in milliseconds, and does not step. */
export function createRecords(uptime: () => number): Records {
  /** By intern and nonce, in the order in which they began. */
  const interns = new Map<string, Map<string, Timed>>();
  const store = createBodies();
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

  function forgetRunning(calls: Map<string, Timed>, untilMs: number): void {
    for (const record of calls.values()) {
      if (record.end !== 'running' || record.atMs > untilMs) return;
      drop(record);
    }
  }

  function drop({ calls, nonce }: Timed): void {
    if (calls.delete(nonce)) size -= 1;
  }

  return {
    get size() {
      return size;
    },
    begin(internId, nonce, user) {
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
    end(internId, nonce, end) {
      const record = interns.get(internId)?.get(nonce);
      if (record === undefined) return;
      if (record.end === 'running') {
        record.atMs = uptime();
        if (oldest === undefined || newest === undefined) oldest = record;
        else newest.next = record;
        newest = record;
      }
      record.end = typeof end === 'string' ? end : { ...end, body: store(end.body) };
    },
    of(internId, nonce) {
      forget(uptime());
      return interns.get(internId)?.get(nonce);
    },
  };
}

const FORGET_EVERY_MS = 1000;
const SLAB_BYTES = 256 * 1024;

/**
 * Copies bodies, small ones one after another into slabs: a buffer for each would cost more than all else of keeping it. Bodies are
 * forgotten in this order too, so that a few slabs at most are kept for a part of theirs.
 */
function createBodies(): (body: Uint8Array) => Uint8Array {
  let slab = new Uint8Array(0);
  let used = 0;
  return (body) => {
    const bytes = body.byteLength;
    if (bytes > SLAB_BYTES / 4) return Uint8Array.from(body);
    if (used + bytes > slab.byteLength) {
      slab = new Uint8Array(SLAB_BYTES);
      used = 0;
    }
    slab.set(body, used);
    used += bytes;
    return slab.subarray(used - bytes, used);
  };
}
