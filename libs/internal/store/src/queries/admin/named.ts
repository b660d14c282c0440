import { type RawBuilder, sql } from 'kysely';
import type { Database, Handle } from '../../database.ts';
import { AdminError } from './admin-error.ts';
import { type CreatedApiKey, createApiKey, type NewApiKey } from './api-keys.ts';
import { createIntern } from './interns.ts';
import { createOrganization } from './organizations.ts';

/** Any constant works if every version of this code uses the same one. */
const NAME_LOCK = 716_309_452;

/**
 * Creates something, unless something of this kind has the name already.
 *
 * @throws AdminError `conflict`, which names what there is
 */
function unlessNamed<Made>(
  db: Database,
  what: string,
  name: string,
  existing: RawBuilder<{ id: string }>,
  create: (db: Handle) => Promise<Made>,
): Promise<Made> {
  return db.kysely.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(NAME_LOCK)}, hashtext(${name}))`.execute(trx);
    const { rows } = await existing.execute(trx);
    if (rows[0] !== undefined) {
      throw new AdminError('conflict', `${what} is named ${JSON.stringify(name)} already: ${rows[0].id}`);
    }
    return await create({ kysely: trx });
  });
}

type Input<Create extends (db: Handle, input: never) => unknown> = Parameters<Create>[1];

/** @throws AdminError as `createOrganization`, and `conflict` if one has the name */
export function createNamedOrganization(db: Database, input: Input<typeof createOrganization>) {
  const existing = sql<{ id: string }>`select id from organizations where name = ${input.name} limit 1`;
  return unlessNamed(db, 'an organization', input.name, existing, (trx) => createOrganization(trx, input));
}

/** @throws AdminError as `createIntern`, and `conflict` if one of the workspace has the name */
export function createNamedIntern(db: Database, input: Input<typeof createIntern>) {
  const existing = sql<{ id: string }>`
    select id from interns where workspace_id = ${input.workspaceId} and name = ${input.name} limit 1`;
  return unlessNamed(db, 'an intern of the workspace', input.name, existing, (trx) =>
    createIntern(trx, input),
  );
}

/** @throws AdminError as `createApiKey`, and `conflict` if one of its place that is not disabled has the name */
export function createNamedKey(db: Database, input: NewApiKey): Promise<CreatedApiKey> {
  const place =
    input.kind === 'management'
      ? sql`organization_id = ${input.organizationId} and kind = 'management'`
      : sql`workspace_id = ${input.workspaceId} and intern_id is not distinct from ${input.internId ?? null}`;
  const existing = sql<{ id: string }>`
    select hash as id from api_keys where ${place} and name = ${input.name} and disabled_at is null limit 1`;
  return unlessNamed(db, 'a key', input.name, existing, (trx) => createApiKey(trx, input));
}
