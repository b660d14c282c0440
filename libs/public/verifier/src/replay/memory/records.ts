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
  readonly end: CallEnd | 'running';
}

/** Beyond this, the oldest answers are lost; their calls stay recorded. */
const BYTES_MAX = 64 * 1024 * 1024;

/** `uptime` is in milliseconds, and does not step. */
export function createRecords(uptime: () => number): Records {
  /** Each in the order in which its entries expire. */
  const running = new Map<string, Timed>();
  const ended = new Map<string, Timed>();
  const withBody = new Set<string>();
  let bytes = 0;

  function forget(): void {
    const nowMs = uptime();
    drop(running, nowMs - RUNNING_SECONDS_MAX * 1000);
    drop(ended, nowMs - ANSWER_SECONDS * 1000);
  }

  function drop(records: Map<string, Timed>, untilMs: number): void {
    for (const [key, record] of records) {
      if (record.atMs > untilMs) return;
      dropBody(key, record);
      records.delete(key);
    }
  }

  function dropBody(key: string, { end }: Timed): void {
    if (withBody.delete(key)) bytes -= sizeOf(end);
  }

  /** The record keeps its place, because a Map keeps that of a key. */
  function makeRoom(): void {
    for (const key of withBody) {
      if (bytes <= BYTES_MAX) return;
      const record = ended.get(key) as Timed;
      dropBody(key, record);
      ended.set(key, { ...record, end: 'lost' });
    }
  }

  return {
    get size() {
      return running.size + ended.size;
    },
    begin(internId, nonce, user) {
      forget();
      running.set(keyOf(internId, nonce), { user, end: 'running', atMs: uptime() });
    },
    end(internId, nonce, end) {
      const key = keyOf(internId, nonce);
      const record = running.get(key);
      if (record === undefined) return;
      running.delete(key);
      ended.set(key, { user: record.user, end, atMs: uptime() });
      if (sizeOf(end) === 0) return;
      withBody.add(key);
      bytes += sizeOf(end);
      makeRoom();
    },
    of(internId, nonce) {
      forget();
      const key = keyOf(internId, nonce);
      return running.get(key) ?? ended.get(key);
    },
  };
}

interface Timed extends CallRecord {
  readonly atMs: number;
}

const keyOf = (internId: string, nonce: string): string => `${internId} ${nonce}`;

const sizeOf = (end: CallRecord['end']): number => (typeof end === 'object' ? end.body.byteLength : 0);
