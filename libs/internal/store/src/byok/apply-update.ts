import { maskSecret } from '../mask.ts';
import { AdminError } from '../writes/admin-error.ts';
import type { ByokUpdate, DeclaredRegion, Provider } from './credential.ts';
import { readKeyMaterial, requireDeclarable } from './key-material.ts';

/** The fields of a stored credential that the rules of a change depend on. */
export interface CredentialFacts {
  readonly provider: Provider;
  readonly is_fallback: boolean;
  readonly is_byok_only: boolean;
  readonly is_required: boolean;
  /** The region in the stored key; null if it has none. */
  readonly key_region: DeclaredRegion | null;
}

/** The columns that a change sets. A rotated key is not among them: it is sealed before it is stored. */
export type CredentialChange = Omit<ByokUpdate, 'key'> & {
  label?: string;
  key_region?: DeclaredRegion | null;
};

/**
 * Validates a change of a credential against the resulting record, and returns the columns to set.
 * A rotated key has its own label and, for providers whose keys contain a region, its own region.
 *
 * @throws AdminError `invalid_input` when flags exclude each other or the region cannot be declared.
 */
export function applyUpdate(stored: CredentialFacts, update: ByokUpdate): CredentialChange {
  const { key, ...columns } = update;
  requireCompatibleFlags({
    is_fallback: columns.is_fallback ?? stored.is_fallback,
    is_byok_only: columns.is_byok_only ?? stored.is_byok_only,
    is_required: columns.is_required ?? stored.is_required,
  });

  const rotated = key === undefined ? undefined : readKeyMaterial(stored.provider, key);
  const keyRegion = rotated === undefined ? (stored.key_region ?? undefined) : rotated.region;
  if (columns.declared_region !== undefined) {
    requireDeclarable(stored.provider, columns.declared_region, keyRegion);
  }
  if (rotated === undefined) return columns;

  const region = rotated.region ?? null;
  const followsKey = region !== null || stored.key_region !== null;
  return {
    ...columns,
    ...(columns.declared_region === undefined && followsKey && { declared_region: region }),
    label: maskSecret(rotated.apiKey),
    key_region: region,
  };
}

function requireCompatibleFlags(
  result: Pick<CredentialFacts, 'is_fallback' | 'is_byok_only' | 'is_required'>,
) {
  if (result.is_fallback && result.is_byok_only) {
    throw new AdminError('invalid_input', 'credential: is_byok_only cannot be combined with is_fallback');
  }
  if (result.is_fallback && result.is_required) {
    throw new AdminError('invalid_input', 'credential: is_required cannot be combined with is_fallback');
  }
}

/**
 * The columns of a new credential, by the rules of a change that sets every field of an empty credential.
 * Label and region are derived from the key. No column contains the key itself.
 *
 * @throws AdminError `invalid_input`, which does not quote the key
 */
export function newCredential(provider: Provider, fields: ByokUpdate & { readonly key: string }) {
  const empty = {
    provider,
    is_fallback: false,
    is_byok_only: false,
    is_required: false,
    key_region: null,
  } as const;
  const { label, ...columns } = applyUpdate(empty, fields);
  if (label === undefined) throw new TypeError('a key has a label');
  return { ...columns, label };
}
