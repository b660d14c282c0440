import type { ProofErrorCode } from '@ori/proof';
import { headersOf, type ProofHeaderValues } from '@ori/proof/wire';

/** What `ori doctor call` attacks a daemon with: one accepted call, and what it was made of. */
export interface AttackMaterial {
  readonly path: string;
  readonly body: Uint8Array;
  /** The proof of the accepted call. */
  readonly spent: ProofHeaderValues;
  /** An unused proof for the same path and body. */
  readonly unused: ProofHeaderValues;
  /** An unused proof for {@link otherPath} and {@link otherBody}. */
  readonly elsewhere: ProofHeaderValues;
}

/** A request that a daemon must refuse. */
export interface AttackRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly body: Uint8Array;
}

interface AttackRule {
  /** The refusal that SPEC.md requires. */
  readonly expected: ProofErrorCode;
  /** How often it is sent, the first time alone; 1 by default. */
  readonly times?: number;
  readonly request: (material: AttackMaterial) => AttackRequest;
}

/** No proof may be accepted at this age (SPEC.md, V12). */
const AGE_SECONDS_MAX = 600;
/** Enough for two processes behind a gateway that takes turns, with their own memory each. */
const REPEATS = 6;

/** In the order in which they are sent: an accepted replay explains nothing, so it comes last. */
export const ATTACKS = {
  no_proof: { expected: 'proof_missing', request: (material) => ({ ...material, headers: {} }) },
  body_changed: {
    expected: 'signature_invalid',
    request: (material) => unused(material, { body: withByteChanged(material.body) }),
  },
  body_extended: {
    expected: 'signature_invalid',
    request: (material) => unused(material, { body: otherBody(material.body) }),
  },
  path_changed: {
    expected: 'signature_invalid',
    request: (material) => elsewhere(material),
  },
  query_added: {
    expected: 'request_not_coverable',
    request: (material) => unused(material, { path: `${material.path}?ori=doctor` }),
  },
  user_changed: {
    expected: 'signature_invalid',
    request: (material) => unused(material, {}, { 'x-ori-invoke-user': 'ori-doctor-another-user' }),
  },
  time_changed: {
    expected: 'proof_expired',
    request: (material) => {
      const old = Number(material.unused['x-ori-invoke-timestamp']) - AGE_SECONDS_MAX - 100;
      return unused(material, {}, { 'x-ori-invoke-timestamp': String(old) });
    },
  },
  version_1: {
    expected: 'proof_version_not_accepted',
    request: (material) => {
      const kept = headersOf(1).map((name) => [name, material.elsewhere[name]]);
      return { ...elsewhere(material), headers: Object.fromEntries(kept) };
    },
  },
  repeated: {
    expected: 'nonce_replayed',
    times: REPEATS,
    request: (material) => ({ ...material, headers: { ...material.spent } }),
  },
} as const satisfies Record<string, AttackRule>;

export type AttackName = keyof typeof ATTACKS;
export const ATTACK_NAMES = Object.keys(ATTACKS) as AttackName[];

/** What a daemon did about an attack. */
export interface AttackResult {
  readonly attack: AttackName;
  readonly expected: ProofErrorCode;
  readonly status: number;
  readonly code: string | null;
  /** `other`: not carried out, but not refused as SPEC.md requires. */
  readonly outcome: 'refused' | 'accepted' | 'other';
}

/** The answer that says most: an acceptance, then another refusal than the expected one. */
export function judgeAttack(
  attack: AttackName,
  answers: readonly { readonly status: number; readonly code?: string | undefined }[],
): AttackResult {
  const { expected } = ATTACKS[attack];
  const results = answers.map(({ status, code = null }) => {
    const isRefused = status === 401 && code === expected;
    const outcome = status < 300 ? 'accepted' : isRefused ? 'refused' : 'other';
    return { attack, expected, status, code, outcome } as const;
  });
  const worst = (outcome: AttackResult['outcome']) => results.find((result) => result.outcome === outcome);
  const result = worst('accepted') ?? worst('other') ?? results[0];
  if (result === undefined) throw new TypeError('an attack without an answer');
  return result;
}

/** A path that differs in its last character. */
export function otherPath(path: string): string {
  if (path === '/') return '/x';
  return path.slice(0, -1) + (path.endsWith('x') ? 'y' : 'x');
}

/**
 * The body and a space, which JSON ignores. Not the same body: the version 1 proofs of one second for one body are one
 * proof.
 */
export function otherBody(body: Uint8Array): Uint8Array {
  return Buffer.concat([body, Buffer.from(' ')]);
}

function elsewhere({ path, body, elsewhere: proof }: AttackMaterial): AttackRequest {
  return { path, body: otherBody(body), headers: { ...proof } };
}

function unused(
  material: AttackMaterial,
  changed: Partial<Pick<AttackRequest, 'path' | 'body'>>,
  headers: Readonly<Record<string, string>> = {},
): AttackRequest {
  return { ...material, ...changed, headers: { ...material.unused, ...headers } };
}

/** Changes the last letter or digit, so that most JSON stays JSON; without one, the last byte. */
function withByteChanged(body: Uint8Array): Uint8Array {
  if (body.length === 0) return Buffer.from('x');
  const changed = Buffer.from(body);
  const found = changed.findLastIndex((byte) => /[A-Za-z0-9]/.test(String.fromCharCode(byte)));
  const at = found < 0 ? changed.length - 1 : found;
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}
