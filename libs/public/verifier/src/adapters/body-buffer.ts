/**
 * The bytes of a body as it arrives. They are copied, because a server may pass each chunk as a view of a large buffer:
 * a client that sends single bytes would keep one such buffer alive for each.
 */
export interface BodyBuffer {
  readonly length: number;
  add(chunk: Uint8Array): void;
  /** Exactly the bytes added so far. */
  bytes(): Uint8Array;
}

export function createBodyBuffer(): BodyBuffer {
  let held = new Uint8Array(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(chunk) {
      const needed = length + chunk.byteLength;
      if (needed > held.byteLength) {
        const larger = new Uint8Array(Math.max(needed, 2 * length));
        larger.set(held.subarray(0, length));
        held = larger;
      }
      held.set(chunk, length);
      length = needed;
    },
    bytes: () => (held.byteLength === length ? held : held.slice(0, length)),
  };
}
