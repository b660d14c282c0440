import { ED25519 } from '../algorithms.ts';
import { base64, base64url } from '../base64.ts';
import { KeyError } from '../errors.ts';
import { isObject } from '../json-object.ts';
import { admitPublicKey } from '../public-key.ts';
import { createRootedSetReader, type RootedSet, type RootRules, type SetAnswer } from '../rooted-set.ts';
import { SIGNATURE_BYTES } from '../signature.ts';
import { answerKeyStatementInput } from '../statements.ts';
import type { VerificationKey } from '../verification-key.ts';

/** Two while one replaces the other. */
const KEYS_MAX = 2;

/** With what an intern's daemon proves its answers. */
export interface AnswerKeys {
  /** The public keys, 43 characters of base64url each: one or two; none if its daemon proves nothing. */
  readonly keys: readonly string[];
  /** Unix milliseconds: when a set with a root is too old to be used, or a role that it depends on ends. */
  readonly until?: number;
}

/**
 * Reads the answer keys of one key set URL (KEY-SETS.md, K26), from its answers in order. With `rules`, each answer and each key must be
 * one that a pinned root vouches for (ROOTED-KEY-SETS.md).
 *
 * The reader throws {@link KeyError}: `key_set_malformed`, `key_unstated`, why a key is not admitted, or what `createRootedSetReader`
 * throws. Then nothing is known: not that the daemon proves nothing.
 */
export function createAnswerKeyReader(rules?: RootRules): (answer: SetAnswer) => AnswerKeys {
  const readSet = rules && createRootedSetReader(rules);
  let body: Uint8Array | undefined;
  return (answer) => {
    const set = readSet?.(answer);
    body = answer.body ?? body;
    const entries = entriesOf(body);
    const keys = entries.map(({ x }) => x);
    if (rules === undefined || set === undefined) return { keys };
    const ends = entries.map((entry) => (requireStated(entry, rules, set).expiresAt ?? 0) * 1000);
    return { keys, until: Math.min(set.until, ...ends) };
  };
}

interface Entry {
  readonly x: string;
  readonly publicKey: Uint8Array;
  readonly statement: unknown;
}

function entriesOf(body: Uint8Array | undefined): readonly Entry[] {
  const value = body === undefined ? undefined : readJson(body);
  const { keys, 'ori.answers': entries = [] } = isObject(value) ? value : malformed();
  if (!Array.isArray(keys) || !Array.isArray(entries) || entries.length > KEYS_MAX) malformed();
  return entries.map((entry: unknown) => {
    const { x, statement } = isObject(entry) ? entry : malformed();
    const publicKey = typeof x === 'string' ? base64url.decode(x, ED25519.publicKeyBytes) : undefined;
    if (typeof x !== 'string' || publicKey === undefined) malformed();
    admitPublicKey(publicKey);
    return { x, publicKey, statement };
  });
}

function requireStated(
  { publicKey, statement }: Entry,
  { baseUrl, internId }: RootRules,
  { statedBy }: RootedSet,
): VerificationKey {
  const signature = typeof statement === 'string' ? base64.decode(statement, SIGNATURE_BYTES) : undefined;
  const input = answerKeyStatementInput({ baseUrl, internId, publicKey });
  const role = signature && statedBy(input, signature);
  if (role === undefined)
    throw new KeyError('key_unstated', 'no role states an answer key for this intern and base address');
  return role;
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    malformed();
  }
}

function malformed(): never {
  throw new KeyError('key_set_malformed', 'the key set or its answer keys are malformed');
}
