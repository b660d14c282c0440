import { disableApiKey, enableApiKey } from '@ori/administration/api-keys';
import { createIntern, deleteIntern } from '@ori/administration/interns';
import { addMember, removeMember } from '@ori/administration/members';
import { createOrganization, setProgramme } from '@ori/administration/organizations';
import { revokeSessions } from '@ori/administration/sessions';
import { addSubject, createUser, deleteUser, disableUser, removeSubject } from '@ori/administration/users';
import { deleteWorkspace } from '@ori/administration/workspaces';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { rawClient } from '../../env/raw-client.ts';
import { head } from '../signing-bytes.ts';
import { createTestCredential, envelope, useManagementWorld } from './world.ts';

const world = await useManagementWorld();
const { store: db, issuer } = world;

/** An organization with a console, and Ada with everything that she or a key of hers can have. */
async function createCast() {
  const { id: organizationId } = await createOrganization(db, { name: 'Cast' });
  const place = { organizationId, name: 'Workshop', inProgramme: true, isDefault: true };
  const { id: workspaceId } = await createWorkspace(db, place);
  const { id: userId } = await createUser(db, { name: 'Ada' });
  const subject = `ada-${userId}`;
  await addSubject(db, { userId, issuer: issuer.url, subject });
  await addMember(db, { workspaceId, userId });
  const { id: internId } = await createIntern(db, { workspaceId, name: 'charles' });
  const api = { kind: 'api', name: 'k', workspaceId } as const;
  const managing = { kind: 'management', name: 'k', organizationId } as const;
  const console = await createApiKey(db, managing);
  const management = await createApiKey(db, { ...managing, createdBy: userId });
  const minted = async (bearer: string) => {
    const { json } = await world.call({ method: 'POST', path: '/keys', bearer, json: { name: 'minted' } });
    return { hash: json.data.hash as string, key: json.key as string };
  };
  return {
    organizationId,
    workspaceId,
    userId,
    subject,
    internId,
    session: await issuer.token({ subject, scope: 'interns' }),
    console,
    management,
    api: await createApiKey(db, { ...api, createdBy: userId }),
    intern: await createApiKey(db, { ...api, internId, createdBy: userId }),
    minted: await minted(management.key),
    nobodys: await minted(console.key),
  };
}
type Cast = Awaited<ReturnType<typeof createCast>>;

/** The answers to everything that Ada and her keys can do, and to a key of nobody. */
async function answers(cast: Cast) {
  const list = async (bearer: string) => (await world.call({ path: '/interns', bearer })).status;
  const own = async (bearer: string) => (await world.call({ path: '/key', bearer })).status;
  const icon = { path: `/interns/${cast.internId}`, bearer: cast.intern.key };
  return {
    session: await list(cast.session),
    api: [await list(cast.api.key), await own(cast.api.key)],
    intern: [(await world.call(icon)).status, await own(cast.intern.key)],
    management: [
      (await world.call({ path: '/workspaces', bearer: cast.management.key })).status,
      await own(cast.management.key),
    ],
    minted: [await list(cast.minted.key), await own(cast.minted.key)],
    nobodys: [await list(cast.nobodys.key), await own(cast.nobodys.key)],
  };
}

const asConsole = ({ console }: Cast, method: string, path: string, json?: unknown) =>
  world.call({ method, path, bearer: console.key, json });

const WORKS = {
  session: 200,
  api: [200, 200],
  intern: [200, 200],
  management: [200, 200],
  minted: [200, 200],
  nobodys: [200, 200],
};
/** Her keys, when she has no access: 403 on intern operations, which list it, else 401. */
const WITHOUT_HER = { api: [403, 401], intern: [403, 401], management: [401, 401], minted: [403, 401] };
const GONE = { api: [401, 401], intern: [401, 401], management: [401, 401], minted: [401, 401] };
const HIDDEN = { session: 404, api: [404, 200], intern: [404, 200], minted: [404, 200], nobodys: [404, 200] };
const DELETED = {
  session: 404,
  api: [404, 401],
  intern: [404, 401],
  minted: [404, 401],
  nobodys: [404, 401],
};

it('answers all of them before anything ends', async () => {
  expect(await answers(await createCast())).toEqual(WORKS);
});

it.each<[string, (cast: Cast) => Promise<unknown>, Partial<typeof WORKS>]>([
  ['the user is disabled', (cast) => disableUser(db, cast), { session: 403, ...WITHOUT_HER }],
  ['the user is deleted', (cast) => deleteUser(db, cast), { session: 404, ...GONE }],
  [
    'the subject is unlinked',
    (cast) => removeSubject(db, { issuer: issuer.url, subject: cast.subject }),
    { session: 404 },
  ],
  ['sessions are revoked', (cast) => revokeSessions(db, { userId: cast.userId }), { session: 403 }],
  ['an operator removes the member', (cast) => removeMember(db, cast), { session: 403, ...WITHOUT_HER }],
  [
    'the account removes the member',
    (cast) =>
      asConsole(cast, 'POST', `/workspaces/${cast.workspaceId}/members/remove`, { user_ids: [cast.userId] }),
    { session: 403, ...WITHOUT_HER },
  ],
  ['an operator disables the key', ({ api }) => disableApiKey(db, api), { api: [401, 401] }],
  [
    'the account disables the key',
    (cast) => asConsole(cast, 'PATCH', `/keys/${cast.api.hash}`, { disabled: true }),
    { api: [401, 401] },
  ],
  [
    'the account deletes the key',
    (cast) => asConsole(cast, 'DELETE', `/keys/${cast.api.hash}`),
    { api: [401, 401] },
  ],
  [
    'the key expires',
    ({ api }) => sql`update api_keys set expires_at = now() where hash = ${api.hash}`.execute(db.kysely),
    { api: [401, 401] },
  ],
  ['the workspace is deleted', (cast) => deleteWorkspace(db, cast), DELETED],
  ['the workspace leaves the programme', (cast) => setProgramme(db, { ...cast, inProgramme: false }), HIDDEN],
  ['the intern is deleted', (cast) => deleteIntern(db, cast), { intern: [401, 401] }],
])('refuses what %s ends, and nothing else', async (_what, end, ended) => {
  const cast = await createCast();
  await end(cast);
  expect(await answers(cast)).toEqual({ ...WORKS, ...ended });
});

describe('a key of a person', () => {
  it('403: changes and creates nothing when they were removed', async () => {
    const cast = await createCast();
    const id = await createTestCredential(db, { ...world.ours, ...cast });
    await removeMember(db, cast);
    for (const [method, path, json] of [
      ['PATCH', `/byok/${id}`, { name: 'x' }],
      ['POST', '/guardrails', { name: 'x' }],
      ['POST', '/keys', { name: 'x' }],
    ] as const) {
      const reply = await world.call({ method, path, json, bearer: cast.management.key });
      expect(reply.json).toEqual(envelope(403));
    }
  });

  it.each<[string, (cast: Cast, second: string) => readonly [path: string, body: object]]>([
    ['creating a workspace', () => ['/workspaces', { name: 'hers' }]],
    ['adding them to one', ({ userId }, id) => [`/workspaces/${id}/members/add`, { user_ids: [userId] }]],
  ])('400: does not make them a member again by a request that began before, %s', async (_what, request) => {
    const cast = await createCast();
    const { id } = await createWorkspace(db, { organizationId: cast.organizationId, name: 'second' });
    const [path, json] = request(cast, id);
    const body = JSON.stringify(json);
    using connection = await rawClient(world.baseUrl);
    const lines = [`Authorization: Bearer ${cast.management.key}`, 'Content-Type: application/json'];
    connection.send(head(`/v1${path}`, ...lines, `Content-Length: ${body.length}`, 'Expect: 100-continue'));
    await connection.until(/^HTTP\/1\.1 100 Continue/);
    const members = `/workspaces/${cast.workspaceId}/members/remove`;
    await asConsole(cast, 'POST', members, { user_ids: [cast.userId] });
    connection.send(body);
    expect(await connection.until(/\}$/)).toContain('HTTP/1.1 400');
    expect(await answers(cast)).toEqual({ ...WORKS, session: 403, ...WITHOUT_HER });
  });

  it('works again when they are a member again', async () => {
    const cast = await createCast();
    await removeMember(db, cast);
    await addMember(db, { workspaceId: cast.workspaceId, userId: cast.userId });
    expect(await answers(cast)).toEqual(WORKS);
  });

  it('of the account goes on while they are in another workspace, not in one that was deleted', async () => {
    const cast = await createCast();
    const { organizationId, userId } = cast;
    const { id: second } = await createWorkspace(db, { organizationId, name: 'second', inProgramme: true });
    await addMember(db, { workspaceId: second, userId });
    await removeMember(db, cast);
    expect(await answers(cast)).toMatchObject({ api: [403, 401], management: [200, 200] });
    await deleteWorkspace(db, { workspaceId: second });
    expect(await answers(cast)).toMatchObject({ management: [401, 401] });
  });

  it('400: is not created for somebody who could not use it', async () => {
    const cast = await createCast();
    const { organizationId } = cast;
    const { id } = await createWorkspace(db, { organizationId, name: 'elsewhere' });
    const create = (bearer: string, json: object) =>
      world.call({ method: 'POST', path: '/keys', bearer, json: { name: 'x', ...json } });
    const refused = await create(cast.management.key, { workspace_id: id });
    expect(refused.json.error.message).toContain(`${cast.userId} is disabled, or not a member of ${id}`);
    expect((await create(cast.console.key, { workspace_id: id })).status).toBe(201);
    await disableUser(db, cast);
    expect((await create(cast.console.key, { creator_user_id: cast.userId })).status).toBe(400);
  });
});

describe('what an operator ended', () => {
  it('400: no key of the account restores', async () => {
    const cast = await createCast();
    const { organizationId, workspaceId, userId } = cast;
    const { id: second } = await createWorkspace(db, { organizationId, name: 'second' });
    const id = await createTestCredential(
      db,
      { ...world.ours, ...cast },
      { disabled_by_operator: true, disabled: true },
    );
    await removeMember(db, cast);
    await disableApiKey(db, cast.nobodys);
    for (const [method, path, json] of [
      ['POST', `/workspaces/${workspaceId}/members/add`, { user_ids: [userId] }],
      ['POST', `/workspaces/${second}/members/add`, { user_ids: [userId] }],
      ['PATCH', `/keys/${cast.nobodys.hash}`, { disabled: false }],
      ['PATCH', `/byok/${id}`, { disabled: false }],
    ] as const) {
      const { status, json: reply } = await asConsole(cast, method, path, json);
      expect([status, reply.error.message]).toEqual([400, expect.stringContaining('only an operator')]);
    }
    expect(await answers(cast)).toEqual({ ...WORKS, session: 403, ...WITHOUT_HER, nobodys: [401, 401] });
  });

  it('is kept by constraints, whatever management asks the database', async () => {
    const cast = await createCast();
    const { userId } = cast;
    await removeMember(db, cast);
    await disableApiKey(db, cast.nobodys);
    await createTestCredential(
      db,
      { ...world.ours, ...cast },
      { disabled_by_operator: true, disabled: true },
    );
    const undone = [
      sql`update members set removed_at = null where user_id = ${userId}`,
      sql`update api_keys set disabled_at = null where hash = ${cast.nobodys.hash}`,
      sql`update byok_credentials set disabled = false where organization_id = ${cast.organizationId}`,
    ].map((undo) => undo.execute(db.kysely));
    for (const outcome of await Promise.allSettled(undone))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '23514' } });
  });

  it('an operator restores', async () => {
    const cast = await createCast();
    await removeMember(db, cast);
    await disableApiKey(db, cast.nobodys);
    await addMember(db, { workspaceId: cast.workspaceId, userId: cast.userId });
    await enableApiKey(db, { hash: cast.nobodys.hash });
    expect(await answers(cast)).toEqual(WORKS);
  });

  it('400: also where the account itself had removed the person elsewhere', async () => {
    const cast = await createCast();
    const { organizationId, userId } = cast;
    const { id: second } = await createWorkspace(db, { organizationId, name: 'second' });
    const path = `/workspaces/${second}/members`;
    for (const verb of ['add', 'remove'])
      expect((await asConsole(cast, 'POST', `${path}/${verb}`, { user_ids: [userId] })).status).toBe(200);
    await removeMember(db, cast);
    const { status, json } = await asConsole(cast, 'POST', `${path}/add`, { user_ids: [userId] });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('only an operator')]);
    expect(await answers(cast)).toEqual({ ...WORKS, session: 403, ...WITHOUT_HER });
  });

  it('stays ended if the account had ended it before', async () => {
    const cast = await createCast();
    const path = `/workspaces/${cast.workspaceId}/members`;
    await asConsole(cast, 'POST', `${path}/remove`, { user_ids: [cast.userId] });
    await removeMember(db, cast);
    expect((await asConsole(cast, 'POST', `${path}/add`, { user_ids: [cast.userId] })).status).toBe(400);
  });
});
