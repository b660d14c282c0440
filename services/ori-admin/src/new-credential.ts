import { ByokUpdate } from '@ori/store/byok/credential';
import { InvalidCredential } from '@ori/store/byok/invalid-credential';
import * as byok from '@ori/store/byok/new-credential';
import { PROVIDERS, type Provider } from '@ori/store/vocabulary';
import { z } from 'zod';
import { UsageError } from './failure.ts';

/** The provider of that slug. @throws UsageError */
export function requireProvider(slug: string): Provider {
  const provider = PROVIDERS.find((known) => known === slug);
  if (provider !== undefined) return provider;
  throw new UsageError(`Unknown provider ${JSON.stringify(slug)}.`, `Providers: ${PROVIDERS.join(', ')}`);
}

/** The columns of a new credential from options that were not validated. @throws InvalidCredential */
export function newCredential(provider: Provider, key: string, fields: Omit<ByokUpdate, 'key'>) {
  return byok.newCredential(provider, { ...checked({ ...fields, key }), key });
}

function checked(update: object): ByokUpdate {
  const parsed = ByokUpdate.safeParse(update);
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.map((issue) => `${z.core.toDotPath(issue.path)}: ${issue.message}`);
  throw new InvalidCredential(complaints.join('; '));
}
