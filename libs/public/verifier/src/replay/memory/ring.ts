import type { KeptAnswer } from '../replay-store.ts';

const BYTES_MIN = 1024;
/** The length of the head in characters of two bytes, and that of the body, before them. A header has no line break (RFC 9110, section 5.5). */
const LENGTHS_BYTES = 8;

/**
 * The last answers of one person, one after another in a buffer that grows while it may: then a new answer replaces the oldest. An object
 * for each answer would make the garbage collector work more than all else of keeping it.
 *
 * @param mayHave whether the buffer may have this many bytes
 */
export function createRing(mayHave: (size: number) => boolean) {
  let bytes = new Uint8Array(0);
  let view = new DataView(bytes.buffer);
  /** How many bytes were written until now, those left out at the end of the ring included. A place is such a number. */
  let written = 0;

  /** Not once it has replaced an answer: a place is found by the size. */
  function grow(needed: number): void {
    let size = bytes.byteLength;
    while (written + needed > size && written <= bytes.byteLength) {
      const larger = Math.max(BYTES_MIN, 2 * size);
      if (!mayHave(larger)) break;
      size = larger;
    }
    if (size === bytes.byteLength) return;
    const former = bytes;
    bytes = new Uint8Array(size);
    view = new DataView(bytes.buffer);
    bytes.set(former);
  }

  /** Where that many bytes follow one another. */
  function reserve(needed: number): number {
    const left = bytes.byteLength - (written % bytes.byteLength);
    return needed > left ? written + left : written;
  }

  return {
    get size() {
      return bytes.byteLength;
    },
    /** Copies the answer. Returns its place; undefined if it is larger than the buffer may be. */
    put({ status, headers, body }: KeptAnswer): number | undefined {
      let head = String(status);
      for (const name in headers) head += `\n${name}\n${headers[name]}`;
      const needed = LENGTHS_BYTES + 2 * head.length + body.byteLength;
      grow(needed);
      if (needed > bytes.byteLength) return undefined;
      const place = reserve(needed);
      const at = place % bytes.byteLength;
      view.setUint32(at, head.length);
      view.setUint32(at + 4, body.byteLength);
      // An encoder takes longer than all else of keeping an answer.
      for (let index = 0; index < head.length; index += 1)
        view.setUint16(at + LENGTHS_BYTES + 2 * index, head.charCodeAt(index));
      bytes.set(body, at + needed - body.byteLength);
      written = place + needed;
      return place;
    },
    /** A copy of the answer; undefined if it was replaced. */
    get(place: number): KeptAnswer | undefined {
      if (written - place > bytes.byteLength) return undefined;
      const at = place % bytes.byteLength;
      const headAt = at + LENGTHS_BYTES;
      const bodyAt = headAt + 2 * view.getUint32(at);
      let head = '';
      for (let next = headAt; next < bodyAt; next += 2) head += String.fromCharCode(view.getUint16(next));
      const [status, ...lines] = head.split('\n');
      const headers: Record<string, string> = {};
      for (let index = 0; index < lines.length; index += 2)
        headers[lines[index] as string] = lines[index + 1] as string;
      return { status: Number(status), headers, body: bytes.slice(bodyAt, bodyAt + view.getUint32(at + 4)) };
    },
  };
}

export type Ring = ReturnType<typeof createRing>;
