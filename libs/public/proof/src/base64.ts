import { NodeBuffer } from './node-buffer.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const OUTSIDE = 64;

/** RFC 4648, section 4: `+`, `/`, padded with `=`. */
export const base64 = createCodec('base64', `${LETTERS}+/`, '=');
/** RFC 4648, section 5: `-`, `_`, not padded. */
export const base64url = createCodec('base64url', `${LETTERS}-_`, '');

/**
 * Base64 in its canonical spelling (RFC 4648, section 3.5): no white space, no missing or extra padding, unused bits zero.
 * Implemented here because `atob` and `Buffer` accept many spellings of the same bytes, and `Buffer` is not available everywhere.
 */
function createCodec(name: 'base64' | 'base64url', alphabet: string, pad: '=' | '') {
  const values = new Uint8Array(128).fill(OUTSIDE);
  for (let value = 0; value < 64; value++) values[alphabet.charCodeAt(value)] = value;

  function encode(bytes: Uint8Array): string {
    if (NodeBuffer !== undefined) {
      const buffer =
        bytes instanceof NodeBuffer ? bytes : NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      return buffer.toString(name);
    }
    let text = '';
    let held = 0;
    let bits = 0;
    for (const byte of bytes) {
      held = ((held << 8) | byte) & 0xffff;
      for (bits += 8; bits >= 6; ) {
        bits -= 6;
        text += alphabet.charAt((held >> bits) & 63);
      }
    }
    if (bits > 0) text += alphabet.charAt((held << (6 - bits)) & 63);
    return text + pad.repeat((3 - (bytes.length % 3)) % 3);
  }

  /** The bytes, if the text is the canonical encoding of exactly `byteLength` bytes; otherwise undefined. */
  function decode(text: string, byteLength: number): Uint8Array | undefined {
    const characters = Math.ceil((byteLength * 4) / 3);
    const padding = pad.repeat((3 - (byteLength % 3)) % 3);
    if (text.length !== characters + padding.length || !text.endsWith(padding)) return undefined;
    const bytes = new Uint8Array(byteLength);
    let held = 0;
    let bits = 0;
    let at = 0;
    for (let index = 0; index < characters; index++) {
      const value = values[text.charCodeAt(index)] ?? OUTSIDE;
      if (value === OUTSIDE) return undefined;
      held = ((held << 6) | value) & 0xffff;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        bytes[at++] = held >> bits;
      }
    }
    return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
  }

  return { encode, decode };
}
