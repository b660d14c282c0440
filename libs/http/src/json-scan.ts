/** The limits of a JSON text, checked as it arrives and before it is parsed. */
export interface JsonBudget {
  /** Bytes without insignificant white space, of which one byte a run is counted. */
  readonly bytesMax: number;
  /** Objects and arrays within each other. */
  readonly depthMax: number;
  /** Members and items of all objects and arrays. */
  readonly valuesMax: number;
}

/** Of a text that comes in pieces, room is made for this much more at a time. */
const GROWTH = 65_536;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/**
 * Reads a JSON text as it comes, keeps what is significant of it and counts its depth and values. It judges no syntax: a text
 * within its budget may be no JSON, and what it keeps of a text is JSON exactly if the text is.
 */
export class JsonScanner {
  readonly #budget: JsonBudget;
  readonly #onGrow: (bytes: number) => void;
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;
  #depth = 0;
  #values = 0;
  #isInString = false;
  #isEscaped = false;
  #isAfterSpace = false;
  #isBeyond = false;

  /** @param onGrow called with each allocation, in bytes */
  constructor(budget: JsonBudget, onGrow: (bytes: number) => void = () => {}) {
    this.#budget = budget;
    this.#onGrow = onGrow;
  }

  /** Whether the text has outgrown its budget; nothing of it is kept then. */
  get isBeyond(): boolean {
    return this.#isBeyond;
  }

  /** What was significant so far: each run of white space between the tokens is one space. */
  get text(): Buffer {
    return this.#kept.subarray(0, this.#length);
  }

  push(chunk: Uint8Array): void {
    if (this.#isBeyond) return;
    this.#reserve(chunk.length);
    const kept = this.#kept;
    let length = this.#length;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte <= SPACE && isSpace(byte)) {
        if (this.#isAfterSpace) continue;
        this.#isAfterSpace = true;
        kept[length++] = SPACE;
        continue;
      } else {
        this.#isAfterSpace = false;
        if (byte === QUOTE) this.#isInString = true;
        else this.#count(byte);
      }
      if (length >= this.#budget.bytesMax || this.#isBeyond) {
        this.#giveUp();
        return;
      }
      kept[length++] = byte;
    }
    this.#length = length;
  }

  #count(byte: number): void {
    switch (byte) {
      case 0x5b: // [
      case 0x7b: // {
        this.#depth += 1;
        this.#values += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        this.#depth -= 1;
        return;
      case COMMA:
        this.#values += 1;
        break;
      default:
        return;
    }
    const { depthMax, valuesMax } = this.#budget;
    if (this.#depth > depthMax || this.#values > valuesMax) this.#isBeyond = true;
  }

  /** Room for a chunk that has no white space, or for as much as is ever kept. */
  #reserve(more: number): void {
    const wanted = Math.min(this.#length + more, this.#budget.bytesMax) + 1;
    if (wanted <= this.#kept.length) return;
    const size = Math.min(this.#kept.length === 0 ? wanted : wanted + GROWTH, this.#budget.bytesMax + 1);
    this.#onGrow(size - this.#kept.length);
    const grown = Buffer.allocUnsafe(size);
    grown.set(this.text);
    this.#kept = grown;
  }

  #giveUp(): void {
    this.#isBeyond = true;
    this.#kept = Buffer.alloc(0);
    this.#length = 0;
  }
}

const isSpace = (byte: number) => byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
