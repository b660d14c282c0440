import { UnavailableError } from '@ori/proof';
import type { CallEnd } from './replay-store.ts';

/** As a shared store holds it: one text. */
export function renderCallEnd(end: CallEnd): string {
  if (typeof end === 'string') return end;
  const { status, headers, body } = end;
  return JSON.stringify({ status, headers, body: Buffer.from(body).toString('base64') });
}

/** Throws UnavailableError for a text that no store wrote. */
export function parseCallEnd(text: string): CallEnd | 'running' {
  if (text === 'running' || text === 'lost' || text === 'too_large') return text;
  try {
    const { status, headers, body } = JSON.parse(text);
    return { status, headers, body: Buffer.from(body, 'base64') };
  } catch (cause) {
    throw new UnavailableError('replay_store_unavailable', 'unexpected answer of the store', { cause });
  }
}
