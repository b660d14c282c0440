/** The bodies of the last answers, one after another in a buffer that does not grow beyond 64 MiB: a new body replaces the oldest. */
export interface Bodies {
  /** Copies the body. Returns its place; undefined if it is larger than the buffer may be. */
  put(body: Uint8Array): number | undefined;
  /** A copy of the body; undefined if it was replaced. */
  get(place: number, bytes: number): Uint8Array | undefined;
  clear(): void;
}

const BYTES_MIN = 64 * 1024;
const BYTES_MAX = 64 * 1024 * 1024;

/** A buffer for each body, or for some together, would make the garbage collector work more than all else of keeping it. */
export function createBodies(): Bodies {
  let ring = new Uint8Array(BYTES_MIN);
  /** How many bytes were written until now, those left out at the end of the ring included. A place is such a number. */
  let written = 0;

  function reserve(bytes: number): void {
    let size = ring.byteLength;
    while (written + bytes > size && size < BYTES_MAX) size *= 2;
    if (size === ring.byteLength) return;
    const former = ring;
    ring = new Uint8Array(size);
    ring.set(former);
  }

  return {
    put(body) {
      const bytes = body.byteLength;
      if (bytes > BYTES_MAX) return undefined;
      reserve(bytes);
      const size = ring.byteLength;
      const left = size - (written % size);
      const place = bytes > left ? written + left : written;
      ring.set(body, place % size);
      written = place + bytes;
      return place;
    },
    get(place, bytes) {
      const size = ring.byteLength;
      return written - place > size ? undefined : ring.slice(place % size, (place % size) + bytes);
    },
    clear() {
      if (written === 0) return;
      ring = new Uint8Array(BYTES_MIN);
      written = 0;
    },
  };
}
