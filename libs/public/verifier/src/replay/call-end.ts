import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { UnavailableError } from '@ori/proof/wire';
import type { AnswerStore, CallEnd } from './replay-store.ts';

type Call = Parameters<AnswerStore['keep']>[0];

/**
 * How calls ended, as a shared store holds it: one text.
 *
 * @param key 32 bytes: answers are sealed under it, and those that are not are `lost`
 */
export function createCallEnds(key: Uint8Array | undefined) {
  return {
    render(call: Call, end: CallEnd): string {
      if (typeof end === 'string') return end;
      const { status, headers, body } = end;
      const text = JSON.stringify({ status, headers, body: Buffer.from(body).toString('base64') });
      return key === undefined ? text : seal(keyOf(key, call), text);
    },
    /** Throws UnavailableError for a text that no store wrote. */
    parse(call: Call, text: string): CallEnd | 'running' {
      if (text === 'running' || text === 'lost' || text === 'too_large') return text;
      const isSealed = text.startsWith(SEALED);
      if (isSealed !== (key !== undefined)) return 'lost';
      const opened = key === undefined ? text : open(keyOf(key, call), text);
      return opened === undefined ? 'lost' : toAnswer(opened);
    },
  };
}

function toAnswer(text: string): CallEnd {
  try {
    const { status, headers, body } = JSON.parse(text);
    return { status, headers, body: Buffer.from(body, 'base64') };
  } catch (cause) {
    throw new UnavailableError('replay_store_unavailable', 'unexpected answer of the store', { cause });
  }
}

const SEALED = 'sealed:';
const CIPHER = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];

/** A key for this call of this person alone: an answer cannot be moved to another call, and only its few attempts draw an IV. */
function keyOf(key: Uint8Array, { policy, user, nonce }: Call): Buffer {
  const info = ['ori kept answer', policy.internId, nonce, user].join('\n');
  return Buffer.from(hkdfSync('sha256', key, '', info, 32));
}

function seal(key: Buffer, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return SEALED + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Undefined if it was sealed under another key or for another call, or was changed. */
function open(key: Buffer, text: string): string | undefined {
  const bytes = Buffer.from(text.slice(SEALED.length), 'base64');
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
