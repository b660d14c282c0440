import { ANSWERS_BYTES_MAX, type KeptAnswer } from '../replay-store.ts';

/** The last answers, one after another in a buffer that grows to `ANSWERS_BYTES_MAX`: a new answer replaces the oldest. */
export interface Ring {
  /** Copies the answer. Returns its place; undefined if it is larger than the buffer may be. */
  put(answer: KeptAnswer): number | undefined;
  /** A copy of the answer; undefined if it was replaced. */
  get(place: number): KeptAnswer | undefined;
  clear(): void;
}

const BYTES_MIN = 64 * 1024;
/** The lengths of head and body, before them. */
const LENGTHS_BYTES = 8;

/** An object for each answer, or a buffer for some together, would make the garbage collector work more than all else of keeping it. */
export function createRing(): Ring {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  let bytes = new Uint8Array(BYTES_MIN);
  let lengths = new DataView(bytes.buffer);
  /** How many bytes were written until now, those left out at the end of the ring included. A place is such a number. */
  let written = 0;

  function resize(size: number): void {
    const former = bytes;
    bytes = new Uint8Array(size);
    lengths = new DataView(bytes.buffer);
    if (written > 0) bytes.set(former);
  }

  /** Where that many bytes follow one another. */
  function reserve(needed: number): number {
    let size = bytes.byteLength;
    while (written + needed > size && size < ANSWERS_BYTES_MAX) size *= 2;
    if (size !== bytes.byteLength) resize(size);
    const left = size - (written % size);
    return needed > left ? written + left : written;
  }

  return {
    put({ status, headers, body }) {
      const text = JSON.stringify([status, headers]);
      const needed = LENGTHS_BYTES + 3 * text.length + body.byteLength;
      if (needed > ANSWERS_BYTES_MAX) return undefined;
      const place = reserve(needed);
      const at = place % bytes.byteLength;
      const head = encoder.encodeInto(text, bytes.subarray(at + LENGTHS_BYTES)).written;
      const bodyAt = at + LENGTHS_BYTES + head;
      bytes.set(body, bodyAt);
      lengths.setUint32(at, head);
      lengths.setUint32(at + 4, body.byteLength);
      written = place + (bodyAt - at) + body.byteLength;
      return place;
    },
    get(place) {
      if (written - place > bytes.byteLength) return undefined;
      const at = place % bytes.byteLength;
      const bodyAt = at + LENGTHS_BYTES + lengths.getUint32(at);
      const [status, headers] = JSON.parse(decoder.decode(bytes.subarray(at + LENGTHS_BYTES, bodyAt)));
      return { status, headers, body: bytes.slice(bodyAt, bodyAt + lengths.getUint32(at + 4)) };
    },
    clear() {
      if (written === 0) return;
      written = 0;
      resize(BYTES_MIN);
    },
  };
}
