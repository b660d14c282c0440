import type { SealContext } from './open.ts';

/** The context that the provider key of a row of `byok_credentials` is sealed to. */
export function credentialContext(credential: {
  readonly id: string;
  readonly organization_id: string;
}): SealContext {
  return {
    table: 'byok_credentials',
    column: 'sealed_key',
    row: credential.id,
    organizationId: credential.organization_id,
  };
}
