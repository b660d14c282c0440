import type { Change, Configuration, Form } from './configuration.ts';
import { inputV1, inputV2, signed } from './signing-input.ts';
import type { Proof } from './state.ts';

const FORGED = 'by nobody';

/** The message that a client sends for a proof, as altered by the network. */
export function messageOf(configuration: Configuration, proof: Proof, form: Form, change: Change) {
  const { at, user, body, path, nonce, key } = proof;
  const isForged = change === 'forged';
  const v1 = isForged ? FORGED : signed(key, inputV1(configuration, proof));
  const v2 = isForged ? FORGED : signed(key, inputV2(configuration, proof));
  const another = (value: number, name: Change): number => (change === name ? value + 7 : value);
  return {
    method: change === 'method' ? 'PUT' : 'POST',
    at: change === 'at' ? at + 1 : at,
    user: another(user, 'user'),
    body: another(body, 'body'),
    path: another(path, 'path'),
    v1,
    v2: form === 'pair' ? { nonce: another(nonce, 'nonce'), signature: v2 } : undefined,
  };
}

/** A request as it arrives: header values, path and body. */
export type Message = ReturnType<typeof messageOf>;
