import { randomUUID } from 'node:crypto';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { credentialContext } from '@ori/sealing/credential-context';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { seal } from '@ori/sealing/seal';
import { changeCredential } from '@ori/store/byok/change-credential';
import type { Database } from '@ori/store/database';
import { migrate } from '@ori/store/migrate';
import { openPostgres } from '@ori/store/postgres';
import type { Schema } from '@ori/store/schema';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createCredential } from '@ori/store/writes/byok';
import { removeMembers } from '@ori/store/writes/members';
import { startPostgres } from '@ori/test-env/postgres-server';
import { createScenario } from '@ori/test-env/scenario';
import { openTestStore, type TestStore, useTestStore } from '@ori/test-env/stores';
import { sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';
import { mayWrite } from '../../store/src/privileges/excess-privileges.ts';
import { GRANTS } from '../../store/src/privileges/grants.ts';
import { disableApiKey } from './api-keys.ts';
import { type AuditEntry, endOfAudit, exportAudit, listAudit } from './audit.ts';
import { createIntern, deleteIntern } from './interns.ts';
import { revocationsOf } from './lost-revocations.ts';
import { addMember, removeMember } from './members.ts';
import { setTurnLimits } from './organizations.ts';
import { addSigningKey, retireSigningKey, revokeSigningKey, rotateSigningKey } from './signing-keys.ts';
import { addSubject, createUser, deleteUser, removeSubject } from './users.ts';

const DENIED = { code: '42501' };
const ring = parseKekRing(generateKekRing('management'));

describe('the audit of administration', () => {
  const store = useTestStore('postgres');

  const about = async (row: string): Promise<AuditEntry[]> =>
    (await listAudit(store.owner, { limit: 50, row })).rows.toReversed();

  it('records nothing for a change that was rolled back', async () => {
    const id = `user_${randomUUID()}`;
    const failing = store.owner.kysely.transaction().execute(async (tx) => {
      await createUser({ ...store.owner, kysely: tx } as Database, { name: 'Ada', id });
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow();
    expect(await about(id)).toEqual([]);
  });

  it('finds by an organization what was changed of it and of its interns', async () => {
    const { organizationId, internId } = await createScenario(store.owner);
    await createScenario(store.owner);
    const sealer = parseKekRing(generateKekRing('signer'));
    const { id: keyId } = await addSigningKey(store.owner, { internId, sealer });
    await revokeSigningKey(store.owner, { keyId });
    await setTurnLimits(store.owner, { organizationId, turnsPerUser: 1 });
    const { rows } = await listAudit(store.owner, { limit: 50, organizationId });
    expect(rows.map(({ table_name, operation }) => `${operation} ${table_name}`)).toEqual([
      'update organizations',
      'update signing_keys',
      'insert signing_keys',
      'insert members',
      'insert interns',
      'insert workspaces',
      'insert organizations',
    ]);
  });

  it('records the API key and the organization of a change by management, and no sealed text', async () => {
    const { organizationId } = await createScenario(store.owner);
    const row = { id: randomUUID(), organization_id: organizationId };
    const sealUnder = (text: string) => seal(ring, Buffer.from(text), credentialContext(row));
    const first = await sealUnder('sk-1');
    await createCredential(store.owner, { ...row, provider: 'openai', label: 's...1', sealed_key: first });
    const next = await sealUnder('sk-2');
    const account = { organizationId, actor: `api_key:${'0a'.repeat(32)}` };
    await changeCredential(store.as('ori_management'), account, row.id, async () => ({
      sealed_key: next,
      label: 's...2',
    }));
    const [made, changed] = await about(row.id);
    expect(changed).toMatchObject({
      actor: account.actor,
      organization_id: organizationId,
      break_glass: false,
      before: { label: 's...1', sealed_key: '[sealed]' },
      after: { label: 's...2', sealed_key: '[sealed]' },
    });
    for (const sealed of [first, next]) expect(JSON.stringify([made, changed])).not.toContain(sealed);
  });

  it.each([
    'grace',
    'ori_operator',
    'api_key:abc',
    `api_key:${'0A'.repeat(32)}`,
    `api_key:${'0a'.repeat(32)}\n`,
  ])('lets management name no actor but a key: not %j', async (actor) => {
    const { organizationId } = await createScenario(store.owner);
    const row = { id: randomUUID(), organization_id: organizationId, provider: 'openai' as const };
    await createCredential(store.owner, { ...row, label: 's...1', sealed_key: 'x' });
    const change = changeCredential(
      store.as('ori_management'),
      { organizationId, actor },
      row.id,
      async () => ({ label: 's...2' }),
    );
    await expect(change).rejects.toMatchObject(DENIED);
  });

  it('records every change of what operators and management write, but for what requests leave', async () => {
    const ofRequests = ['dpop_epoch', 'idempotency_keys', 'spent_dpop_proofs'];
    const written = GRANTS.flatMap(({ tables }) =>
      Object.keys(tables).filter((table) => mayWrite(tables[table]) && !ofRequests.includes(table)),
    );
    const { rows } = await sql<{ name: string }>`
      select tgrelid::regclass::text as name from pg_trigger where tgname like 'ori\\_audit\\_%'
      group by 1 having count(*) = 3`.execute(store.owner.kysely);
    expect(rows.map(({ name }) => name).sort()).toEqual([...new Set(written)].sort());
  });

  it('names a sealed seed, and does not copy it', async () => {
    const { internId } = await createScenario(store.owner);
    const sealer = parseKekRing(generateKekRing('signer'));
    const { id } = await addSigningKey(store.owner, { internId, sealer });
    expect(await about(id)).toMatchObject([{ operation: 'insert', after: { sealed_seed: '[sealed]' } }]);
  });

  it('records a change of many sealed texts in one row', async () => {
    const { internId } = await createScenario(store.owner);
    const sealer = parseKekRing(generateKekRing('signer'));
    const keys = [await addSigningKey(store.owner, { internId, sealer })];
    keys.push(await addSigningKey(store.owner, { internId, sealer }));
    await sql`update signing_keys set sealed_seed = sealed_seed || '' where intern_id = ${internId}`.execute(
      store.owner.kysely,
    );
    await sql`update signing_keys set sealed_seed = 'x' where intern_id = ${internId}`.execute(
      store.owner.kysely,
    );
    const { rows } = await listAudit(store.owner, { limit: 1 });
    expect(rows[0]).toMatchObject({ operation: 'reseal', row_key: '2 rows' });
    expect(rows[0]?.after).toEqual({ rows: expect.arrayContaining(keys.map(({ id }) => id)) });
  });

  it.each(['ori_signer', 'ori_management', 'ori_operator', 'ori_auditor'] as const)(
    'cannot be written or changed by %s',
    async (role) => {
      for (const statement of [
        `insert into admin_audit (login, actor, break_glass, table_name, row_key, operation) values ('a','a',false,'t','r','o')`,
        `update admin_audit set actor = 'x'`,
        'delete from admin_audit',
        'truncate admin_audit',
        'alter table admin_audit disable trigger all',
        `alter table users disable trigger all`,
      ]) {
        const attempt = store.as(role).kysely.transaction();
        await expect(
          attempt.execute((tx) => sql.raw(statement).execute(tx)),
          statement,
        ).rejects.toMatchObject(DENIED);
      }
    },
  );

  it('cannot be changed by the owner either while its trigger is enabled', async () => {
    for (const statement of [
      `update admin_audit set actor = 'x'`,
      'delete from admin_audit',
      'truncate admin_audit',
    ]) {
      await expect(sql.raw(statement).execute(store.owner.kysely)).rejects.toMatchObject(DENIED);
    }
  });

  it('can be read by an auditor, who can read nothing else', async () => {
    const auditor = store.as('ori_auditor');
    expect((await listAudit(auditor, { limit: 1 })).rows).toHaveLength(1);
    await expect(sql`select id from users`.execute(auditor.kysely)).rejects.toMatchObject(DENIED);
  });
});

it('repeats the retirement and the revocation of a key after a restore, but not the end that a rotation set', async () => {
  await using own = await openTestStore('postgres');
  const { internId } = await createScenario(own.owner);
  const sealer = parseKekRing(generateKekRing('signer'));
  const notBefore = Math.floor(Date.now() / 1000) - 10;
  const { id } = await addSigningKey(own.owner, { internId, sealer, notBefore });
  const next = await rotateSigningKey(own.owner, { internId, sealer });
  const found = async () => revocationsOf(await exportAll(own.owner));
  expect(await found()).toEqual([]);
  await retireSigningKey(own.owner, { keyId: id });
  await revokeSigningKey(own.owner, { keyId: next.id });
  expect(await found()).toMatchObject([
    { action: 'signing-key retire', subject: [id] },
    { action: 'signing-key revoke', subject: [next.id] },
  ]);
});

it('repeats that an operator disabled a provider credential, so that the API does not enable it', async () => {
  await using own = await openTestStore('postgres');
  const { organizationId: organization_id } = await createScenario(own.owner);
  const row = {
    id: crypto.randomUUID(),
    organization_id,
    provider: 'openai' as const,
    label: 'k',
    sealed_key: 'k',
  };
  await createCredential(own.owner, row);
  const credentials = own.owner.kysely.updateTable('byok_credentials');
  await credentials.set({ disabled: true, disabled_by_operator: true }).execute();
  const [lost] = revocationsOf(await exportAll(own.owner));
  await credentials.set({ disabled: false, disabled_by_operator: false }).execute();
  await lost?.apply(own.owner);
  const stored = own.owner.kysely.selectFrom('byok_credentials').select(['disabled', 'disabled_by_operator']);
  expect(await stored.execute()).toEqual([{ disabled: true, disabled_by_operator: true }]);
});

it('repeats what an operator ended that the account had ended before the dump', async () => {
  await using own = await openTestStore('postgres');
  const { organizationId, workspaceId, userId } = await createScenario(own.owner);
  const { hash } = await createApiKey(own.owner, { kind: 'api', name: 'ci', workspaceId });
  await removeMembers(own.owner, { workspaceId, organizationId, userIds: [userId] });
  await sql`update api_keys set disabled_at = now() where hash = ${hash}`.execute(own.owner.kysely);
  const dumped = (await exportAll(own.owner)).at(-1)?.seq ?? 0;
  await removeMember(own.owner, { workspaceId, userId });
  await disableApiKey(own.owner, { hash });
  const lost = revocationsOf(await exportAll(own.owner, dumped));
  expect(lost.map(({ action }) => action)).toEqual(['member remove', 'key disable']);
  await sql`update members set removed_by_operator = false`.execute(own.owner.kysely);
  await sql`update api_keys set disabled_by_operator = false`.execute(own.owner.kysely);
  for (const one of lost) await one.apply(own.owner);
  const { rows } = await sql`
    select removed_by_operator, disabled_by_operator from members, api_keys k
    where user_id = ${userId} and k.hash = ${hash}`.execute(own.owner.kysely);
  expect(rows).toEqual([{ removed_by_operator: true, disabled_by_operator: true }]);
});

it('repeats what the account ended so that the account can undo it', async () => {
  await using own = await openTestStore('postgres');
  const { kysely } = own.owner;
  const { organizationId, workspaceId, userId } = await createScenario(own.owner);
  const { hash } = await createApiKey(own.owner, { kind: 'api', name: 'ci', workspaceId });
  const credential = { id: randomUUID(), organization_id: organizationId, label: 'k', sealed_key: 'k' };
  await createCredential(own.owner, { ...credential, provider: 'openai' });
  await removeMembers(own.owner, { workspaceId, organizationId, userIds: [userId] });
  await sql`update api_keys set disabled_at = now() where hash = ${hash}`.execute(kysely);
  await sql`update byok_credentials set disabled = true`.execute(kysely);
  const lost = revocationsOf(await exportAll(own.owner));
  expect(lost.map(({ action }) => action)).toEqual(['member remove', 'key disable', 'byok disable']);
  const undo = async () => {
    await sql`update members set removed_at = null where user_id = ${userId}`.execute(kysely);
    await sql`update api_keys set disabled_at = null where hash = ${hash}`.execute(kysely);
    await sql`update byok_credentials set disabled = false`.execute(kysely);
  };
  await undo();
  for (const one of lost) await one.apply(own.owner);
  const { rows } = await sql`
    select removed_at is not null as removed, disabled_at is not null as key, c.disabled as credential
    from members m, api_keys k, byok_credentials c where m.user_id = ${userId} and k.hash = ${hash}`.execute(
    kysely,
  );
  expect(rows).toEqual([{ removed: true, key: true, credential: true }]);
  await undo();
});

describe('what was created again under the same name', () => {
  const issuer = 'https://issuer.test';

  it('does not get back the keys of an intern that was deleted', async () => {
    await using own = await openTestStore('postgres');
    const { workspaceId, internId } = await createScenario(own.owner);
    const { id: keyId } = await addSigningKey(own.owner, {
      internId,
      sealer: parseKekRing(generateKekRing('signer')),
    });
    await deleteIntern(own.owner, { internId });
    await createIntern(own.owner, { id: internId, workspaceId, name: 'again' });
    expect(revocationsOf(await exportAll(own.owner))).toMatchObject([
      { action: 'signing-key revoke', subject: [keyId] },
    ]);
  });

  it('does not get back the memberships of a person who was deleted, except those given again', async () => {
    await using own = await openTestStore('postgres');
    const one = await createScenario(own.owner);
    const other = await createScenario(own.owner);
    const { userId } = one;
    await addMember(own.owner, { workspaceId: other.workspaceId, userId });
    await deleteUser(own.owner, { userId });
    await createUser(own.owner, { id: userId, name: 'again' });
    await addMember(own.owner, { workspaceId: other.workspaceId, userId });
    const lost = revocationsOf(await exportAll(own.owner));
    expect(lost.filter(({ action }) => action !== 'user unlink')).toMatchObject([
      { action: 'member remove', subject: [one.workspaceId, userId] },
    ]);
  });

  it('does not give a subject back to the user from whom it went to another', async () => {
    await using own = await openTestStore('postgres');
    const [ada, grace] = await Promise.all(['Ada', 'Grace'].map((name) => createUser(own.owner, { name })));
    if (ada === undefined || grace === undefined) throw new Error('two users were created');
    const [link, unlink] = [
      (userId: string) => addSubject(own.owner, { userId, issuer, subject: 'grace' }),
      () => removeSubject(own.owner, { issuer, subject: 'grace' }),
    ];
    await link(ada.id);
    const dumped = (await exportAll(own.owner)).at(-1)?.seq ?? 0;
    const lost = async () => revocationsOf(await exportAll(own.owner, dumped));
    await unlink();
    await link(grace.id);
    expect(await lost()).toMatchObject([{ action: 'user unlink', subject: ['grace', issuer] }]);
    await unlink();
    await link(ada.id);
    expect(await lost()).toEqual([]);
  });

  it('does not get an intern back into the workspace that it left', async () => {
    await using own = await openTestStore('postgres');
    const { workspaceId, internId } = await createScenario(own.owner);
    const other = await createScenario(own.owner);
    const move = async (to: string) => {
      await deleteIntern(own.owner, { internId });
      await createIntern(own.owner, { id: internId, workspaceId: to, name: 'charles' });
    };
    const lost = async () => revocationsOf(await exportAll(own.owner));
    await move(other.workspaceId);
    expect(await lost()).toMatchObject([{ action: 'intern delete', subject: [internId] }]);
    await move(workspaceId);
    expect(await lost()).toEqual([]);
  });

  it('is told apart from a subject that begins with the same words', async () => {
    await using own = await openTestStore('postgres');
    const { id: userId } = await createUser(own.owner, { name: 'Ada' });
    await addSubject(own.owner, { userId, issuer, subject: 'ada lovelace' });
    await removeSubject(own.owner, { issuer, subject: 'ada lovelace' });
    await addSubject(own.owner, { userId, issuer, subject: 'ada' });
    expect(revocationsOf(await exportAll(own.owner))).toMatchObject([
      { action: 'user unlink', subject: ['ada lovelace', issuer] },
    ]);
  });
});

async function exportAll(db: Database, after = 0): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  const { end } = await endOfAudit(db, after);
  for await (const entry of exportAudit(db, { after, end })) entries.push(entry);
  return entries;
}

it('exports no change while one with a lower number may still be committed', async () => {
  await using own = await openTestStore('postgres');
  const start = (await exportAll(own.owner)).at(-1)?.seq ?? 0;
  const seqs = async () => (await exportAll(own.owner, start)).map(({ seq }) => seq - start);
  const insertUser = (tx: Transaction<Schema>, id: string) =>
    tx.insertInto('users').values({ id, name: 'Ada' }).execute();
  const [older, younger] = await Promise.all([1, 2].map(() => own.owner.kysely.startTransaction().execute()));
  if (older === undefined || younger === undefined) throw new Error('two transactions were started');
  await insertUser(older, 'u1');
  await insertUser(younger, 'u2');
  await insertUser(older, 'u3');
  await older.commit().execute();
  expect(await seqs()).toEqual([1]);
  await younger.rollback().execute();
  expect(await seqs()).toEqual([1, 3]);
});

it('is not exported from a standby, which shows no change that is in progress', async () => {
  await using primary = await startPostgres();
  const owner = openPostgres({ url: primary.url, poolMax: 1 });
  await migrate(owner);
  await owner.close();
  await primary.stop();
  await using standby = await startPostgres({ copyOf: primary, standbyOf: primary });
  const reader = openPostgres({ url: standby.url, poolMax: 1 });
  await expect(endOfAudit(reader, 0)).rejects.toMatchObject({ code: 'standby' });
  await reader.close();
});

it('exports beside a short transaction, and waits for its end', async () => {
  await using own = await openTestStore('postgres');
  const start = (await exportAll(own.owner)).at(-1)?.seq ?? 0;
  const open = await own.owner.kysely.startTransaction().execute();
  await open.insertInto('users').values({ id: 'u1', name: 'Ada' }).execute();
  await createUser(own.owner, { id: 'u2', name: 'Ada' });
  const end = endOfAudit(own.owner, start);
  await open.rollback().execute();
  expect(await end).toEqual({ end: start + 2, complete: true });
});

describe('an operator', () => {
  it('is identified by the login, or by a role that the login is a member of', async () => {
    await using own = await openTestStore('postgres');
    const { rows } = await sql<{ name: string }>`select current_database()::text as name`.execute(
      own.owner.kysely,
    );
    const suffix = rows[0]?.name ?? '';
    const [grace, team] = [`grace_${suffix}`, `team_${suffix}`];
    await sql.raw(`create role ${team} nologin`).execute(own.owner.kysely);
    await sql
      .raw(`create role ${grace} login password 'x' in role ori_operator, ${team}`)
      .execute(own.owner.kysely);
    await sql.raw(`grant connect on database ${suffix} to ${grace}`).execute(own.owner.kysely);
    const url = new URL(databaseUrlOf(own));
    Object.assign(url, { username: grace, password: 'x' });
    const as = async (actor?: string) => {
      const db = openPostgres({ url: url.href, poolMax: 1, ...(actor === undefined ? {} : { actor }) });
      try {
        const { id } = await createUser(db, { name: 'x' });
        return (await listAudit(db, { limit: 1, row: id })).rows[0];
      } finally {
        await db.close();
      }
    };
    expect(await as()).toMatchObject({ login: grace, actor: grace, break_glass: false });
    expect(await as(team)).toMatchObject({ login: grace, actor: team, break_glass: false });
    for (const other of ['ori_management', 'nobody_at_all'])
      await expect(as(other)).rejects.toMatchObject(DENIED);
    await sql.raw(`drop owned by ${grace}`).execute(own.owner.kysely);
    await sql.raw(`drop role ${grace}, ${team}`).execute(own.owner.kysely);
  });
});

function databaseUrlOf(store: TestStore): string {
  if (store.url === undefined) throw new Error('a store on a server has an address');
  return store.url;
}
