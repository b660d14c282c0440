import { applyUpdate } from './apply-update.ts';
import type { ByokUpdate } from './credential.ts';
import type { Provider } from './provider.ts';

/**
 * The columns of a new credential, by the rules of a change that sets every field of an empty credential.
 * Label and region are derived from the key. No column contains the key itself.
 *
 * @throws {InvalidCredential}, which does not quote the key
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
