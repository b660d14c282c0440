import { BodyBuffer } from '../adapters/body-buffer.ts';
import type { Recorder as Told } from '../kept-answers.ts';
import type { CallEnd, KeptAnswer } from '../replay/replay-store.ts';

/** Headers of one connection or of one moment (RFC 9110, section 7.6.1), and secrets that were for another connection. */
const NOT_KEPT = new Set([
  // Node leaves out a header without a name.
  '',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'ori-answer',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NO_STORE = /(?:^|,)[ \t]*no-store[ \t]*(?:,|$)/i;

/** Tells a client that it can ask for this answer, and for its end (REPLAY-STORES.md, A1). */
export const RECORDED = ['ori-answer', 'recorded'] as const;

/** What is kept of an answer. */
export interface Limits {
  readonly bytesMax: number;
  readonly noStore: boolean;
}

/** Records one answer while a handler gives it, and calls `settle` once, with what there is to keep. */
export class Recorder implements Told {
  /** Whether nothing more is recorded: the answer is complete, lost or too large. */
  isOver = false;
  /** The answer is complete. */
  isKept = false;
  readonly #limits: Limits;
  readonly #settle: (end: CallEnd) => void;
  readonly #body = new BodyBuffer();
  #head: Omit<KeptAnswer, 'body'> = { status: 200, headers: {} };
  /** As announced. */
  #length: string | undefined;

  constructor(limits: Limits, settle: (end: CallEnd) => void) {
    this.#limits = limits;
    this.#settle = settle;
  }

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    this.#head = { status, headers: headersToKeep(headers) };
    const { 'content-length': length, 'content-encoding': coding, 'cache-control': caching = '' } = headers;
    // A platform may have decoded the body, and encode it again.
    if (coding === undefined && status !== 204 && status !== 304) this.#length = length;
    // An upgrade cannot be given again.
    if (status < 200 || (!this.#limits.noStore && NO_STORE.test(caching))) this.lose();
  }

  add(chunk: Uint8Array): void {
    if (this.isOver) return;
    if (this.#body.length + chunk.byteLength > this.#limits.bytesMax) this.#end('too_large');
    else this.#body.add(chunk);
  }

  end(last?: Uint8Array): void {
    const isWhole = this.#body.length === 0 && last !== undefined && last.byteLength <= this.#limits.bytesMax;
    if (!isWhole && last !== undefined) this.add(last);
    const body = isWhole ? last : this.#body.bytes();
    // A client takes a body of another length for a broken connection.
    if (this.#length !== undefined && Number(this.#length) !== body.byteLength) this.lose();
    this.#end({ ...this.#head, body });
  }

  lose(): void {
    this.#end('lost');
  }

  #end(end: CallEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isKept = typeof end === 'object';
    this.#settle(end);
  }
}

function headersToKeep(all: Readonly<Record<string, string>>): Record<string, string> {
  const named = all['connection']?.split(',').map((name) => name.trim().toLowerCase());
  const kept: Record<string, string> = {};
  for (const name in all) if (!NOT_KEPT.has(name) && !named?.includes(name)) kept[name] = all[name] as string;
  return kept;
}
