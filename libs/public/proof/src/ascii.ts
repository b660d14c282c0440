import { NodeBuffer } from './node-buffer.ts';

const encoder = new TextEncoder();

/** The bytes of an ASCII string. On Node, encoding it as Latin-1 gives the same bytes in a fifth of the time. */
export function asciiBytes(text: string): Uint8Array {
  return NodeBuffer === undefined ? encoder.encode(text) : NodeBuffer.from(text, 'latin1');
}
