import { ANSWERS_BYTES_MAX, type KeptAnswer } from '../replay-store.ts';

const BYTES_MIN = 64 * 1024;
/** The length of the head in characters of two bytes, and that of the body, before them. A header has no line break (RFC 9110, section 5.5). */
const LENGTHS_BYTES = 8;

/**
 * The last answers, one after another in a buffer that grows to `ANSWERS_BYTES_MAX`: a new answer replaces the oldest. An object for
 * each answer, or a buffer for some together, would make the garbage collector work more than all else of keeping it.
 */
export function createRing() {
  let bytes = new Uint8Array(BYTES_MIN);
  let view = new DataView(bytes.buffer);
  /** How many bytes were written until now, those left out at the end of the ring included. A place is such a number. */
  let written = 0;

  function resize(size: number): void {
    const former = bytes;
    bytes = new Uint8Array(size);
    view = new DataView(bytes.buffer);
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
    /** Copies the answer. Returns its place; undefined if it is larger than the buffer may be. */
    put({ status, headers, body }: KeptAnswer): number | undefined {
      let head = String(status);
      for (const name in headers) head += `\n${name}\n${headers[name]}`;
      const needed = LENGTHS_BYTES + 2 * head.length + body.byteLength;
      if (needed > ANSWERS_BYTES_MAX) return undefined;
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
    clear(): void {
      if (written === 0) return;
      written = 0;
      resize(BYTES_MIN);
    },
  };
}
