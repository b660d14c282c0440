/** The limits of a JSON text, checked as it arrives and before it is parsed. */
export interface JsonBudget {
  /** Bytes, counting each run of insignificant white space as one byte. */
  readonly bytesMax: number;
  /** Nesting depth of objects and arrays. */
  readonly depthMax: number;
  /** Members and items of all objects and arrays. */
  readonly valuesMax: number;
}

/** The buffer of a text that arrives in chunks grows by this many bytes at a time. */
const GROWTH = 65_536;
const EMPTY = Buffer.alloc(0);
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/**
 * Scans a JSON text as it arrives, stores its significant bytes and counts its depth and values. It does not check the
 * syntax: a text within its budget may be invalid, and the stored text is valid exactly if the original is.
 */
export class JsonScanner {
  readonly #budget: JsonBudget;
  readonly #onGrow: (bytes: number) => void;
  #kept: Buffer = EMPTY;
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

  /** Whether the text has exceeded its budget; then nothing of it is stored. */
  get isBeyond(): boolean {
    return this.#isBeyond;
  }

  /** The significant bytes so far: each run of white space between tokens is one space. */
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

  /** Room for a chunk without white space, up to the maximum that is stored. */
  #reserve(more: number): void {
    const wanted = Math.min(this.#length + more, this.#budget.bytesMax) + 1;
    if (wanted <= this.#kept.length) return;
    const size = Math.min(this.#kept.length === 0 ? wanted : wanted + GROWTH, this.#budget.bytesMax + 1);
    this.#onGrow(size - this.#kept.length);
    const grown = Buffer.allocUnsafe(size);
    this.#kept.copy(grown, 0, 0, this.#length);
    this.#kept = grown;
  }

  #giveUp(): void {
    this.#isBeyond = true;
    this.#kept = EMPTY;
    this.#length = 0;
  }
}

const isSpace = (byte: number) => byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
