/**
 * The bytes of a body as it arrives. They are copied, because a server may pass each chunk as a view of a large buffer:
 * a client that sends single bytes would keep one such buffer alive for each.
 *
 * A class, because V8 keeps an object that has a closure or a getter of its own until the next full garbage collection.
 */
export class BodyBuffer {
  #held = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    const needed = this.#length + chunk.byteLength;
    if (needed > this.#held.byteLength) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#length));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#length);
    this.#length = needed;
  }

  /** Exactly the bytes added so far. */
  bytes(): Uint8Array {
    return this.#held.byteLength === this.#length ? this.#held : this.#held.slice(0, this.#length);
  }
}

const NOTHING = new Uint8Array(0);
