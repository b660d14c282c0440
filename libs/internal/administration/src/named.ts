import { isKeyDisabled } from '@ori/store/api-keys';
import type { Handle } from '@ori/store/database';
import { AdminError } from '@ori/store/writes/admin-error';
import { type CreatedApiKey, createApiKey, type NewApiKey } from '@ori/store/writes/api-keys';
import { type RawBuilder, sql } from 'kysely';
import { createIntern } from './interns.ts';
import { createOrganization } from './organizations.ts';

/** Any constant works if every version of this code uses the same one. */
const NAME_LOCK = 716_309_452;

/**
 * Creates something, unless something of this kind has the name in its place already. Also within a transaction, which
 * keeps others from the name until it ends.
 *
 * @throws AdminError `conflict`, which names what there is
 */
function unlessNamed<Made>(
  { kysely }: Handle,
  { what, place = '', name }: { readonly what: string; readonly place?: string; readonly name: string },
  existing: RawBuilder<{ id: string }>,
  create: (db: Handle) => Promise<Made>,
): Promise<Made> {
  const take = async (trx: Handle['kysely']) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(NAME_LOCK)}, hashtext(${place + name}))`.execute(trx);
    const { rows } = await existing.execute(trx);
    if (rows[0] !== undefined) {
      throw new AdminError('conflict', `${what} is named ${JSON.stringify(name)} already: ${rows[0].id}`);
    }
    return await create({ kysely: trx });
  };
  return kysely.isTransaction ? take(kysely) : kysely.transaction().execute(take);
}

type Input<Create extends (db: Handle, input: never) => unknown> = Parameters<Create>[1];

/** @throws AdminError as `createOrganization`, and `conflict` if one has the name */
export function createNamedOrganization(db: Handle, input: Input<typeof createOrganization>) {
  const { name } = input;
  const existing = sql<{ id: string }>`select id from organizations where name = ${name} limit 1`;
  return unlessNamed(db, { what: 'an organization', name }, existing, (trx) =>
    createOrganization(trx, input),
  );
}

/** @throws AdminError as `createIntern`, and `conflict` if one of the workspace has the name */
export function createNamedIntern(db: Handle, input: Input<typeof createIntern>) {
  const { workspaceId: place, name } = input;
  const existing = sql<{ id: string }>`
    select id from interns where workspace_id = ${place} and name = ${name} limit 1`;
  const wanted = { what: 'an intern of the workspace', place, name };
  return unlessNamed(db, wanted, existing, (trx) => createIntern(trx, input));
}

/** @throws AdminError as `createApiKey`, and `conflict` if one of its place has the name, neither disabled nor expired */
export function createNamedKey(db: Handle, input: NewApiKey): Promise<CreatedApiKey> {
  const { name } = input;
  const isThere =
    input.kind === 'management'
      ? sql`organization_id = ${input.organizationId} and kind = 'management'`
      : sql`workspace_id = ${input.workspaceId} and intern_id is not distinct from ${input.internId ?? null}`;
  const existing = sql<{ id: string }>`
    select hash as id from api_keys where ${isThere} and name = ${name} and not ${isKeyDisabled} limit 1`;
  const place = input.kind === 'management' ? input.organizationId : input.workspaceId;
  return unlessNamed(db, { what: 'a key', place, name }, existing, (trx) => createApiKey(trx, input));
}
