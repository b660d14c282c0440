import { extendKekRing, generateKekRing, promoteKek } from '@ori/sealing/change-kek-ring';
import { credentialContext } from '@ori/sealing/credential-context';
import type { KekRing } from '@ori/sealing/kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { seal } from '@ori/sealing/seal';
import type { Handle } from '@ori/store/database';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createCredential } from '@ori/store/writes/byok';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { waitingForLocks } from '@ori/test-env/lock-waits';
import { createRing, createScenario, type Scenario } from '@ori/test-env/scenario';
import { openTestStore, type TestStore } from '@ori/test-env/stores';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableApiKey } from './api-keys.ts';
import { type EndedKeys, endingKeys } from './ended-keys.ts';
import { iconTypeOf } from './icons.ts';
import { updateIntern } from './interns.ts';
import { listOrganizations, listWorkspaces } from './lists.ts';
import { createOrganization, deleteOrganization, makeDefault, renameOrganization } from './organizations.ts';
import { resealTable } from './reseal.ts';
import { addSigningKey, rotateSigningKey } from './signing-keys.ts';
import { disableUser } from './users.ts';
import { deleteWorkspace } from './workspaces.ts';

const coded = (code: string) => expect.objectContaining({ name: 'AdminError', code });
const setDefault = ({ kysely }: Handle, organizationId: string, workspaceId: string) =>
  kysely.transaction().execute((trx) => makeDefault({ kysely: trx }, { organizationId, workspaceId }));

describe('queries', () => {
  let store: TestStore;
  let scenario: Scenario;
  beforeAll(async () => {
    store = await openTestStore('postgres');
    scenario = await createScenario(store.owner);
  });
  afterAll(() => store?.[Symbol.asyncDispose]());

  it('refuses an empty change, an unknown intern, and an invalid value', async () => {
    const { internId } = scenario;
    await expect(updateIntern(store.owner, { internId })).rejects.toEqual(coded('invalid_input'));
    await expect(updateIntern(store.owner, { internId, model: 'b' })).rejects.toEqual(coded('invalid_input'));
    await expect(updateIntern(store.owner, { internId: 'int_no', model: 'a/b' })).rejects.toEqual(
      coded('not_found'),
    );
  });

  it('has one default workspace at any time, even if the former one was deleted', async () => {
    const { id: organizationId } = await createOrganization(store.owner, { name: 'Two' });
    const [first, second] = [
      await createWorkspace(store.owner, { organizationId, name: 'first', isDefault: true }),
      await createWorkspace(store.owner, { organizationId, name: 'second' }),
    ];
    await deleteWorkspace(store.owner, { workspaceId: first.id });
    await setDefault(store.owner, organizationId, second.id);
    const { rows } = await listWorkspaces(store.owner, { limit: 5, organization_id: organizationId });
    // Two of the same millisecond can be in any order.
    expect(new Map(rows.map(({ id, is_default }) => [id, is_default]))).toEqual(
      new Map([
        [first.id, false],
        [second.id, true],
      ]),
    );
  });

  it('deletes only an empty organization', async () => {
    const { id: organizationId } = await createOrganization(store.owner, { name: 'Empty' });
    await renameOrganization(store.owner, { organizationId, name: 'Void' });
    const { rows } = await listOrganizations(store.owner, { limit: 50 });
    expect(rows).toContainEqual(expect.objectContaining({ id: organizationId, name: 'Void', workspaces: 0 }));
    await deleteOrganization(store.owner, { organizationId });
    await expect(deleteOrganization(store.owner, { organizationId })).rejects.toEqual(coded('not_found'));
    const held = scenario.organizationId;
    await expect(deleteOrganization(store.owner, { organizationId: held })).rejects.toEqual(
      coded('conflict'),
    );
  });
});

it.each([
  ['89504e470d0a1a0a00', 'image/png'],
  ['ffd8ffe000', 'image/jpeg'],
  ['524946460000000057454250', 'image/webp'],
  ['3c737667', undefined],
  ['5249464600000000574156455', undefined],
  ['', undefined],
])('recognizes the type of an icon by its bytes: %s is %s', (hex, type) => {
  expect(iconTypeOf(Buffer.from(hex, 'hex'))).toBe(type);
});

describe('two concurrent operators', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('postgres');
  });
  afterAll(() => store?.[Symbol.asyncDispose]());

  it('leave one default workspace, the later one', async () => {
    const { id: organizationId } = await createOrganization(store.owner, { name: 'Contended' });
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const { id } = await createWorkspace(store.owner, { organizationId, name: `w${index}` });
        return id;
      }),
    );
    await Promise.all(ids.map((workspaceId) => setDefault(store.owner, organizationId, workspaceId)));
    const { rows } = await listWorkspaces(store.owner, { limit: 10, organization_id: organizationId });
    expect(rows.filter((row) => row.is_default)).toHaveLength(1);
  });

  it('a rotation leaves a key ended that was retired meanwhile', async () => {
    const { internId } = await createScenario(store.owner);
    const sealer = createRing();
    const { id } = await addSigningKey(store.owner, { internId, sealer, notBefore: 1 });
    const rotating = await store.owner.kysely.transaction().execute(async (tx) => {
      await sql`update signing_keys set expires_at = 2 where id = ${id}`.execute(tx);
      const pending = rotateSigningKey(store.owner, { internId, sealer });
      await expect.poll(() => waitingForLocks(store.owner)).toBe(1);
      return { pending };
    });
    await rotating.pending;
    const { rows } = await sql`select expires_at from signing_keys where id = ${id}`.execute(
      store.owner.kysely,
    );
    expect(rows).toEqual([{ expires_at: 2 }]);
  });

  it.each<[string, (of: { userId: string; hash: string }) => Promise<EndedKeys>]>([
    [
      'a key is disabled',
      ({ hash }) => endingKeys(store.owner, { hash }, (db) => disableApiKey(db, { hash })),
    ],
    [
      'its person is disabled',
      ({ userId }) => endingKeys(store.owner, { userId }, (db) => disableUser(db, { userId })),
    ],
  ])('when %s, a key that it is creating is told, and it creates no other', async (_what, end) => {
    const { organizationId, workspaceId, userId } = await createScenario(store.owner);
    const managing = { kind: 'management', name: 'console', organizationId, createdBy: userId } as const;
    const { hash } = await createApiKey(store.owner, managing);
    const made = { kind: 'api', name: 'made', workspaceId, createdByKey: hash } as const;
    const ending = await store.owner.kysely.transaction().execute(async (tx) => {
      const { hash: created } = await createApiKey({ kysely: tx }, made);
      const pending = end({ userId, hash });
      await expect.poll(() => waitingForLocks(store.owner)).toBe(1);
      return { created, pending };
    });
    expect(await ending.pending).toMatchObject({
      ended: [{ hash }],
      remaining: [{ hash: ending.created }],
    });
    await expect(createApiKey(store.owner, made)).rejects.toEqual(coded('invalid_input'));
  });

  it('re-sealing does not overwrite a key that was rotated since it was read', async () => {
    const { organizationId } = await createScenario(store.owner);
    const row = { id: crypto.randomUUID(), organization_id: organizationId };
    const [former, next] = [generateKekRing('management'), createRing()];
    const sealUnder = (ring: typeof next, key: string) =>
      seal(ring, new TextEncoder().encode(key), credentialContext(row));
    const sealed_key = await sealUnder(parseKekRing(former), 'former');
    await createCredential(store.owner, { ...row, provider: 'openai', label: 'f...r', sealed_key });
    const rotated = await sealUnder(parseKekRing(former), 'rotated');
    const ring = promoted(former);

    const resealing = await store.owner.kysely.transaction().execute(async (tx) => {
      await tx
        .updateTable('byok_credentials')
        .set({ sealed_key: rotated })
        .where('id', '=', row.id)
        .execute();
      const pending = resealTable(store.owner, 'management', { ring });
      // Re-sealing has read the former key and waits for the row lock.
      await expect.poll(() => waitingForLocks(store.owner)).toBe(1);
      return { pending };
    });
    await resealing.pending;
    const stored = await store.owner.kysely
      .selectFrom('byok_credentials')
      .select('sealed_key')
      .where('id', '=', row.id)
      .executeTakeFirstOrThrow();
    expect(stored.sealed_key).toBe(rotated);
  });
});

/** A ring with a new first key before that of the text. */
function promoted(text: string): KekRing {
  const extended = extendKekRing(text, 'management');
  const kid = parseKekRing(extended).kids.at(-1) ?? '';
  return parseKekRing(promoteKek(extended, 'management', kid));
}
