import type { SealContext } from './open.ts';

/** The context that the seed of a row of `signing_keys` is sealed to. */
export function seedContext(key: { readonly id: string; readonly internId: string }): SealContext {
  return { table: 'signing_keys', column: 'sealed_seed', row: key.id, internId: key.internId };
}
