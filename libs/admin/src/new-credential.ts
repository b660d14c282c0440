import { applyUpdate } from '@ori/byok/apply-update';
import { ByokUpdate } from '@ori/byok/credential';
import { InvalidCredential } from '@ori/byok/invalid-credential';
import { PROVIDERS, type Provider } from '@ori/store/vocabulary';
import { z } from 'zod';
import { UsageError } from './failure.ts';

/** The provider of that slug. @throws UsageError */
export function requireProvider(slug: string): Provider {
  const provider = PROVIDERS.find((known) => known === slug);
  if (provider !== undefined) return provider;
  throw new UsageError(`Unknown provider ${JSON.stringify(slug)}.`, `Providers: ${PROVIDERS.join(', ')}`);
}

/**
 * The columns of a new credential, by the rules of a change that sets every field of an empty credential.
 * Label and region are derived from the key. No column contains the key itself.
 *
 * @throws {InvalidCredential}, which does not quote the key
 */
export function newCredential(provider: Provider, key: string, fields: Omit<ByokUpdate, 'key'>) {
  const empty = {
    provider,
    is_fallback: false,
    is_byok_only: false,
    is_required: false,
    key_region: null,
  } as const;
  const { label, ...columns } = applyUpdate(empty, checked({ ...fields, key }));
  if (label === undefined) throw new TypeError('a key has a label');
  return { ...columns, label };
}

function checked(update: object): ByokUpdate {
  const parsed = ByokUpdate.safeParse(update);
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.map((issue) => `${z.core.toDotPath(issue.path)}: ${issue.message}`);
  throw new InvalidCredential(complaints.join('; '));
}
