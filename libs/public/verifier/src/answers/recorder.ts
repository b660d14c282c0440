import { ANSWER_PROOF } from '@ori/proof/answer-proof';
import { BodyBuffer } from '../adapters/body-buffer.ts';
import type { Recorder as Told } from '../kept-answers.ts';
import type { CallEnd, KeptAnswer } from '../replay/replay-store.ts';
import { isBodiless, Pieces, type Prover, proofOf } from './prover.ts';

/** Headers of one connection or of one moment (RFC 9110, section 7.6.1), and secrets that were for another connection. */
const NOT_KEPT = new Set([
  // Node leaves out a header without a name.
  '',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'ori-answer',
  ANSWER_PROOF,
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NO_STORE = /(?:^|,)[ \t]*no-store[ \t]*(?:,|$)/i;
const EMPTY = new Uint8Array();

/** Tells a client that it can ask for this answer, and for its end (REPLAY-STORES.md, A1). */
export const RECORDED = ['ori-answer', 'recorded'] as const;

/** What is kept of an answer. */
export interface Limits {
  readonly bytesMax: number;
  readonly noStore: boolean;
}

/** Records one answer while a handler gives it, and calls `settle` once, with what there is to keep, and the answer's proof. */
export class Recorder implements Told {
  /** Whether nothing more of its body is recorded: the answer is complete, lost or too large. */
  isOver = false;
  /** The answer is complete. */
  isKept = false;
  readonly prover: Prover | undefined;
  readonly #limits: Limits;
  readonly #settle: (end: CallEnd, proof: string | undefined) => void;
  readonly #body = new BodyBuffer();
  /** Nothing more is done with it. */
  isSettled = false;
  #status = 200;
  #headers: Readonly<Record<string, string>> = {};
  /** As announced. */
  #length: string | undefined;
  #proof: string | undefined;
  /** Until the answer is proven. */
  #pieces: Pieces | undefined;
  /** Why nothing but the proof is kept. */
  #alone: Exclude<CallEnd, KeptAnswer> | undefined;

  constructor(
    limits: Limits,
    settle: (end: CallEnd, proof: string | undefined) => void,
    prover?: Prover | undefined,
  ) {
    this.#limits = limits;
    this.#settle = settle;
    this.prover = prover;
  }

  /**
   * What the head says in `ori-answer-proof`, before it is sent: the proof, if the whole body is known by now; otherwise by which key
   * it will be. Undefined without a key.
   */
  prove(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | undefined,
  ): string | undefined {
    const { prover } = this;
    this.#proof = undefined;
    if (prover === undefined || status < 200) return undefined;
    const whole = isBodiless(status) ? EMPTY : body;
    if (whole !== undefined) this.#proof = proofOf(prover, status, headers, whole);
    if (this.#proof !== undefined) this.#pieces = undefined;
    return this.#proof ?? prover.key.x;
  }

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status;
    this.#headers = headers;
    const { 'content-length': length, 'content-encoding': coding, 'cache-control': caching = '' } = headers;
    // A platform may have decoded the body, and encode it again.
    if (coding === undefined && !isBodiless(status)) this.#length = length;
    if (this.prover !== undefined && this.#proof === undefined && status >= 200) this.#pieces = new Pieces();
    // An upgrade cannot be given again.
    if (status < 200) this.lose();
    else if (!this.#limits.noStore && NO_STORE.test(caching)) this.#end('lost');
  }

  add(chunk: Uint8Array): void {
    this.#pieces?.add(chunk);
    if (this.isOver) return;
    if (this.#body.length + chunk.byteLength > this.#limits.bytesMax) this.#end('too_large');
    else this.#body.add(chunk);
  }

  end(last?: Uint8Array): void {
    const isWhole = this.#body.length === 0 && last !== undefined && last.byteLength <= this.#limits.bytesMax;
    if (!isWhole && last !== undefined) this.add(last);
    else if (last !== undefined) this.#pieces?.add(last);
    const body = isWhole ? last : this.#body.bytes();
    // A client takes a body of another length for a broken connection.
    if (!this.isOver && this.#length !== undefined && Number(this.#length) !== body.byteLength) this.lose();
    if (this.prover !== undefined && this.#pieces !== undefined)
      this.#proof = proofOf(this.prover, this.#status, this.#headers, this.#pieces.end());
    this.#pieces = undefined;
    this.#end(this.#alone ?? { status: this.#status, headers: headersToKeep(this.#headers), body });
  }

  /** Nothing more comes. */
  lose(): void {
    this.#pieces = undefined;
    this.#proof = undefined;
    this.#end(this.#alone ?? 'lost');
  }

  #end(end: CallEnd): void {
    if (this.isSettled) return;
    this.isOver = true;
    this.isKept = typeof end === 'object';
    if (typeof end === 'string') this.#alone = end;
    // Of what is too large, or not to be stored, the proof is kept alone.
    if (this.#pieces !== undefined) return;
    this.isSettled = true;
    this.#settle(end, this.#proof);
  }
}

function headersToKeep(all: Readonly<Record<string, string>>): Record<string, string> {
  const named = all['connection']?.split(',').map((name) => name.trim().toLowerCase());
  const kept: Record<string, string> = {};
  for (const name in all) if (!NOT_KEPT.has(name) && !named?.includes(name)) kept[name] = all[name] as string;
  return kept;
}
