import { engine } from '#engine';
import { ED25519 } from './algorithms.ts';
import { base64, base64url } from './base64.ts';
import { KeyError, type KeyErrorCode } from './errors.ts';
import { isTimestampSeconds } from './fields.ts';
import { KEY_SET_HEADER } from './headers.ts';
import { isObject } from './json-object.ts';
import { admitPublicKey } from './public-key.ts';
import { parseJwkSet } from './read-jwk-set.ts';
import { SIGNATURE_BYTES } from './signature.ts';
import {
  type Delegation,
  delegationInput,
  keyStatementInput,
  ROLES,
  type Role,
  setStatementInput,
} from './statements.ts';
import { holdsTimestamp, type VerificationKey } from './verification-key.ts';

/** How long a set is used after the time of its statement. */
const SET_AGE_MAX_MS = 60_000;
/** How far a statement's time may be ahead of the verifier's clock. */
const SET_AHEAD_MAX_MS = 10_000;
const DELEGATIONS_MAX = 16;

const STATEMENT = /^(0|[1-9][0-9]{0,14}) ([A-Za-z0-9+/]{85}[AQgw]==)$/;

/** What a daemon knows before it fetches anything. */
export interface RootRules {
  /** The pinned roots. */
  readonly roots: readonly VerificationKey[];
  readonly baseUrl: string;
  readonly internId: string;
}

/** An answer to a request for a key set. */
export interface SetAnswer {
  /** Absent if the server says that the document has not changed (304). */
  readonly body: Uint8Array | undefined;
  /** The value of the header `x-ori-key-set`. */
  readonly statement: string | null;
  /** The verifier's clock, in Unix milliseconds. */
  readonly now: number;
}

/** What a root vouches for in a served key set. */
export interface RootedSet {
  /** The same array as before if the document is the same. */
  readonly keys: readonly VerificationKey[];
  /** Unix milliseconds: when the set is too old to be used, or a role that it depends on ends. */
  readonly until: number;
  /** The role `keys` that made a statement about this intern, if one in force did. */
  statedBy(input: Uint8Array, signature: Uint8Array): VerificationKey | undefined;
}

interface SetDocument {
  readonly value: unknown;
  readonly sha256: string;
  readonly delegations: readonly Signed<Omit<Delegation, 'baseUrl'>>[];
  readonly statements: readonly Uint8Array[];
}

type Signed<T> = T & { readonly signature: Uint8Array };

/**
 * Reads the answers of one URL, in order, and refuses each that a pinned root does not vouch for (ROOTED-KEY-SETS.md). It
 * remembers the newest set, to refuse an older one.
 *
 * The reader throws {@link KeyError}: `key_set_unstated`, `key_set_malformed`, `key_set_too_large`, `key_set_role_missing`,
 * `key_set_signature_invalid`, `key_set_ahead`, `key_set_frozen`, `key_set_rolled_back`, `key_unstated`, or why a key is not admitted.
 */
export function createRootedSetReader(rules: RootRules): (answer: SetAnswer) => RootedSet {
  let newest: { document: SetDocument; keys: readonly VerificationKey[]; at: number } | undefined;

  const admit = rememberAdmitted();

  return ({ body, statement, now }) => {
    const { at, signature } = readStatement(statement);
    const document = body === undefined ? newest?.document : readDocument(body);
    if (document === undefined)
      refuse('key_set_malformed', 'the answer has no key set, and there is no earlier one');
    const { sha256 } = document;
    const { baseUrl, internId } = rules;
    const trusted = trustedRoles(document, rules, { now: Math.floor(now / 1000), admit });
    const input = setStatementInput({ baseUrl, internId, at, sha256 });
    const freshness = requireRole(trusted, 'freshness').find((key) => key.verify(input, signature));
    if (freshness === undefined)
      refuse('key_set_signature_invalid', 'the statement is not for this key set, intern and base address');
    if (at > now + SET_AHEAD_MAX_MS) refuse('key_set_ahead', 'the time of the statement is in the future');
    if (at + SET_AGE_MAX_MS <= now) refuse('key_set_frozen', 'the statement is older than 60 s');
    const isKnown = newest?.document.sha256 === sha256;
    if (newest !== undefined && !isKnown && at <= newest.at)
      refuse('key_set_rolled_back', 'the key set is not newer than the one in use');
    const roles = requireRole(trusted, 'keys');
    const stated = requireStated(document, rules, roles);
    newest = {
      document,
      keys: newest !== undefined && isKnown ? newest.keys : stated.keys,
      at: newest !== undefined && isKnown ? Math.max(newest.at, at) : at,
    };
    const ends = [freshness, ...stated.by].map(({ expiresAt = 0 }) => expiresAt * 1000);
    return {
      keys: newest.keys,
      until: Math.min(newest.at + SET_AGE_MAX_MS, ...ends),
      statedBy: (made, by) => roles.find((role) => role.verify(made, by)),
    };
  };
}

function refuse(code: KeyErrorCode, message: string): never {
  throw new KeyError(code, message);
}

function malformed(): never {
  refuse('key_set_malformed', 'the key set or its statement is malformed');
}

function readStatement(statement: string | null): { at: number; signature: Uint8Array } {
  if (statement === null) refuse('key_set_unstated', `the answer has no ${KEY_SET_HEADER}`);
  const [, at, signature] = STATEMENT.exec(statement) ?? malformed();
  return { at: Number(at), signature: readSignature(signature) };
}

function readSignature(text: unknown): Uint8Array {
  return (typeof text === 'string' ? base64.decode(text, SIGNATURE_BYTES) : undefined) ?? malformed();
}

function readDocument(body: Uint8Array): SetDocument {
  const value = readJson(body);
  const { keys, ori } = isObject(value) ? value : malformed();
  if (!Array.isArray(keys)) malformed();
  if (ori === undefined) refuse('key_set_unstated', 'the key set has no member "ori"');
  const { delegations, statements } = isObject(ori) ? ori : malformed();
  if (!Array.isArray(delegations) || !Array.isArray(statements)) malformed();
  if (delegations.length > DELEGATIONS_MAX)
    refuse('key_set_too_large', `the key set has more than ${DELEGATIONS_MAX} delegations`);
  if (statements.length !== keys.length) malformed();
  return {
    value,
    sha256: engine.sha256Hex(body),
    delegations: delegations.map(readDelegation),
    statements: statements.map(readSignature),
  };
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    malformed();
  }
}

function readDelegation(value: unknown): SetDocument['delegations'][number] {
  const { role, x, nbf, exp, signature } = isObject(value) ? value : malformed();
  const publicKey = typeof x === 'string' ? base64url.decode(x, ED25519.publicKeyBytes) : undefined;
  if (!isRole(role) || publicKey === undefined || !isTime(nbf) || !isTime(exp)) malformed();
  return { role, publicKey, notBefore: nbf, expiresAt: exp, signature: readSignature(signature) };
}

type Trusted = Readonly<Record<Role, VerificationKey[]>>;

/**
 * A delegated root may sign later delegations. One that is not signed by a trusted root, or not in force, is ignored, and so is one
 * that gives a second role to a key. A role ends with the root that gave it.
 */
function trustedRoles(
  { delegations }: SetDocument,
  { roots, baseUrl }: RootRules,
  { now, admit }: { readonly now: number; readonly admit: typeof admitPublicKey },
): Trusted {
  const trusted: Trusted = {
    root: roots.filter((root) => holdsTimestamp(root, now)),
    keys: [],
    freshness: [],
  };
  const hasOther = (role: Role, publicKey: Uint8Array): boolean =>
    ROLES.some((other) => other !== role && trusted[other].some((key) => isSame(key.publicKey, publicKey)));
  for (const { signature, ...delegation } of delegations) {
    const { role, publicKey, notBefore, expiresAt } = delegation;
    if (now < notBefore || now >= expiresAt) continue;
    const input = delegationInput({ ...delegation, baseUrl });
    const by = trusted.root.find((root) => root.verify(input, signature));
    if (by === undefined || hasOther(role, publicKey)) continue;
    const end = Math.min(expiresAt, by.expiresAt ?? expiresAt);
    trusted[role].push(admit(publicKey, { notBefore, expiresAt: end }));
  }
  return trusted;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, index) => byte === other[index]);
}

const ADMITTED_MAX = 64;

/** Caches admitted keys: admission costs as much as many verifications, and the roles rarely change. */
function rememberAdmitted(): typeof admitPublicKey {
  const admitted = new Map<string, VerificationKey>();
  return (publicKey, interval = {}) => {
    const name = `${publicKey} ${interval.notBefore} ${interval.expiresAt}`;
    const key = admitted.get(name) ?? admitPublicKey(publicKey, interval);
    if (admitted.size >= ADMITTED_MAX) admitted.clear();
    admitted.set(name, key);
    return key;
  };
}

function requireRole(trusted: Trusted, role: Role): readonly VerificationKey[] {
  if (trusted[role].length === 0)
    refuse('key_set_role_missing', `no delegation of the role "${role}" by a pinned root is in force`);
  return trusted[role];
}

/** All keys of the document, and the roles that stated them. Throws if any key cannot be used. */
function requireStated(
  { value, statements }: SetDocument,
  { baseUrl, internId }: RootRules,
  roles: readonly VerificationKey[],
): { keys: readonly VerificationKey[]; by: readonly VerificationKey[] } {
  const keys = parseJwkSet(value, ({ error }) => {
    throw error;
  });
  if (keys.length !== statements.length)
    refuse('key_unstated', 'a key of the set is not an Ed25519 signature key');
  const by = keys.map(({ publicKey, notBefore, expiresAt = null }, index) => {
    if (!isTime(notBefore) || !(expiresAt === null || isTime(expiresAt))) malformed();
    const input = keyStatementInput({ baseUrl, internId, publicKey, notBefore, expiresAt });
    const role = roles.find((one) => one.verify(input, statements[index] ?? malformed()));
    return role ?? refuse('key_unstated', `no role states key ${index} for this intern and base address`);
  });
  return { keys, by };
}

function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value);
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && isTimestampSeconds(value);
}
