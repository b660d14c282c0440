import { NodeBuffer } from './node-buffer.ts';

const encoder = new TextEncoder();

/** The bytes of a text that holds nothing but ASCII, which is as well what Latin-1 makes of it: that takes Node a fifth of the time. */
export function asciiBytes(text: string): Uint8Array {
  return NodeBuffer === undefined ? encoder.encode(text) : NodeBuffer.from(text, 'latin1');
}
