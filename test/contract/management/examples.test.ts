import { removeMember } from '@ori/administration/members';
import { clearRevokedSessions, revokeSessions } from '@ori/administration/sessions';
import { PRESENTATIONS } from '@ori/api/refusals';
import { DPOP_REFUSALS } from '@ori/identity/dpop/refusals';
import type { Database } from '@ori/store/database';
import { createApiKey } from '@ori/store/writes/api-keys';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { OPERATIONS } from '../../../services/management/src/operations.ts';
import { createTestCredential, startManagementWorld, useManagementWorld } from './world.ts';

// Verifies every example of the document against the server: stores its records and sends its requests.

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at is what it knows to be there
type Json = any;

const world = await useManagementWorld({ environment: { REGIONAL_HOSTS: 'eu.ori.example' } });
const document: Json = (await world.call({ path: '/openapi.json', bearer: null })).json;
let readerKey: string;
let formerKey: string;
let managementKey: string;
/** The key of an answer as large as all that are kept. */
const FULL = '0'.repeat(64);
beforeAll(() => storeExamples(world.store));

const described = (operationId: string): Json =>
  Object.values<Json>(document.paths)
    .flatMap((item) => Object.values<Json>(item))
    .find((operation) => operation.operationId === operationId);
const answerOf = (operationId: string): Json => {
  const { responses } = described(operationId);
  return (responses[200] ?? responses[201]).content['application/json'].example;
};
const requestOf = (operationId: string): Json =>
  described(operationId).requestBody?.content['application/json'].example;

/** Creates an account with exactly the records of the examples. */
async function storeExamples(db: Database): Promise<void> {
  const intern = answerOf('listInterns').data[0];
  const credential = answerOf('listByokCredentials').data[0];
  const { enforce_zdr: _, ...guardrail } = answerOf('listGuardrails').data[0];
  const keyAssignment = answerOf('listKeyAssignments').data[0];
  const memberAssignment = answerOf('listMemberAssignments').data[0];
  const { organization_id, user_id } = memberAssignment;
  const { workspace_id } = intern;
  const insert = (table: string, row: Record<string, unknown>) =>
    sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row))})`.execute(db.kysely);
  const json = (list: unknown[] | null) => list && JSON.stringify(list);

  await insert('organizations', { id: organization_id, name: 'Examples' });
  const { id, name, slug, description, created_at } = answerOf('listWorkspaces').data[0];
  const workspace = { id, organization_id, name, slug, description, created_at };
  await insert('users', {
    id: user_id,
    name: 'Ada',
    email: answerOf('listOrganizationMembers').data[0].email,
  });
  await insert('workspaces', { ...workspace, created_by: user_id, is_default: true, in_programme: true });
  await insert('members', { workspace_id, organization_id, user_id, created_at });
  const { key_hash: hash, key_name, key_label: label } = keyAssignment;
  const kept = { kind: 'api', organization_id, workspace_id, created_by: user_id, created_at };
  await insert('api_keys', { ...kept, hash, name: key_name, label });
  const reader = await createApiKey(db, { kind: 'api', name: 'reader', workspaceId: workspace_id });
  await sql`update api_keys set label = ${label}, created_by = ${user_id}, created_at = '2099-01-01'
    where hash = ${reader.hash}`.execute(db.kysely);
  const manager = { kind: 'management', name: 'manager', organizationId: organization_id } as const;
  readerKey = reader.key;
  managementKey = (await createApiKey(db, { ...manager, createdBy: user_id })).key;
  const { userId: createdBy } = world.theirs;
  formerKey = (await createApiKey(db, { ...manager, organizationId: world.theirs.organizationId, createdBy }))
    .key;

  const { created_by_you: _you, ...columns } = intern;
  await insert('interns', { ...columns, organization_id, created_by_key_hash: reader.hash });
  const older = { id: 'int_older', name: 'older', created_at: '2026-01-01T00:00:00.000Z' };
  await insert('interns', { ...older, organization_id, workspace_id, status: 'stopped' });
  await insert('byok_credentials', { ...credential, organization_id, sealed_key: 'never opened' });
  await insert('guardrails', {
    ...guardrail,
    organization_id,
    content_filter_builtins: json(
      guardrail.content_filter_builtins.map(({ label: _, ...entry }: Json) => entry),
    ),
    content_filters: json(guardrail.content_filters),
  });
  const { key_name: _name, key_label: _label, ...keyColumns } = keyAssignment;
  await insert('guardrail_key_assignments', { ...keyColumns, organization_id });
  await insert('guardrail_member_assignments', memberAssignment);
  await sql`insert into idempotency_keys (organization_id, key_hash, sealed_answer, created_at)
    values (${organization_id}, ${FULL}, repeat('x', ${64 * 1024 * 1024}), to_timestamp(0))`.execute(
    db.kysely,
  );
}

const examplesOf = (operationId: string, status: number): Json[] =>
  Object.values<Json>(described(operationId).responses[status].content['application/json'].examples).map(
    ({ value }) => value,
  );

/** When the account kept as many answers as it may have. */
async function fillAnswers(at: Date): Promise<void> {
  await sql`update idempotency_keys set created_at = ${at} where key_hash = ${FULL}`.execute(
    world.store.kysely,
  );
}

/** A workspace with keys, and a default one, cannot be deleted. Makes ours one that can, or what it was before. */
async function makeDeletable(deletable: boolean): Promise<void> {
  const { id } = answerOf('listWorkspaces').data[0];
  await sql`update workspaces set is_default = ${!deletable}, deleted_at = null where id = ${id}`.execute(
    world.store.kysely,
  );
  await sql`update api_keys set disabled_at = ${deletable ? new Date() : null} where workspace_id = ${id}`.execute(
    world.store.kysely,
  );
}

/** The fields that the server sets on a write. */
const DECIDED: Readonly<Record<string, readonly string[]>> = {
  createGuardrail: ['id', 'created_at', 'updated_at'],
  updateGuardrail: ['updated_at'],
  createByokCredential: ['id', 'created_at'],
  createApiKey: ['hash', 'label', 'created_at'],
  updateApiKey: ['updated_at'],
  createWorkspace: ['id', 'slug', 'default_guardrail_id', 'created_at'],
  updateWorkspace: ['updated_at'],
};

/** Leads to the page of the example: the reader's records come first. */
const QUERIES: Readonly<Record<string, string>> = { listInterns: '?limit=1', listApiKeys: '?offset=1' };

const pathOf = (operationId: string, path: string) =>
  path.replace(/\{\w+\}/, () => described(operationId).parameters[0].schema.example);

// Deletions come after the operations that need the record.
const rank = (operationId: string) =>
  ['bulkRemove', 'bulkUnassign', 'delete'].findIndex((verb) => operationId.startsWith(verb));
const inOrder = OPERATIONS.filter((operation) => 'result' in operation).toSorted(
  (a, b) => rank(a.operationId) - rank(b.operationId),
);
it.each(inOrder)(
  '$operationId accepts its example request and returns its example response',
  async (operation) => {
    const { operationId, method, path, family, status } = operation;
    const json = requestOf(operationId);
    const isLast = operationId === 'deleteWorkspace';
    if (isLast) await makeDeletable(true);
    const send = (headers: readonly string[] = []) =>
      world.call({
        method,
        path: pathOf(operationId, path) + (QUERIES[operationId] ?? ''),
        bearer: family === 'Interns' || operationId === 'getCurrentKey' ? readerKey : managementKey,
        headers,
        ...(json !== undefined && { json }),
      });
    if (412 in described(operationId).responses) {
      expect(examplesOf(operationId, 412)).toEqual([(await send(['If-Match', '"x"'])).json]);
    }
    if (method === 'POST') {
      await fillAnswers(new Date());
      expect(examplesOf(operationId, 429)).toContainEqual((await send(['Idempotency-Key', 'late'])).json);
      await fillAnswers(new Date(0));
    }
    const reply = await send();
    if (isLast) await makeDeletable(false);
    // The manager and the reader belong to the member who was removed.
    await sql`update members set removed_at = null`.execute(world.store.kysely);
    const expected = structuredClone(answerOf(operationId));
    if (operationId === 'createByokCredential') expected.data.allowed_api_key_hashes = null;
    // The reader's key is of the same workspace.
    if (operationId === 'listApiKeys') expected.total_count = 2;
    for (const name of DECIDED[operationId] ?? []) expected.data[name] = expect.any(String);
    if (operationId === 'createApiKey') expected.key = expect.stringMatching(/^sk-ori-v1-[0-9a-f]{64}$/);
    expect([reply.status, reply.json]).toEqual([status, expected]);
  },
);

it('the server accepts the cursor and the ids of the examples', async () => {
  const { parameters } = described('listInterns');
  const cursor = parameters.find(({ name }: Json) => name === 'starting_after').schema.example;
  const rest = await world.call({ path: `/interns?starting_after=${cursor}`, bearer: readerKey });
  expect(rest.json.data).toMatchObject([{ id: 'int_older' }]);
  const texts = JSON.stringify(document);
  for (const [, prefix, id] of texts.matchAll(/\b(org|ws|int|user)_(?!ids?\b|only\b)(\w+)/g)) {
    expect([prefix, id]).toEqual([prefix, expect.stringMatching(/^[0-9A-Za-z]{22}$/)]);
  }
});

/** These need a blocked dependency: `any-route.test.ts` and below. */
const BLOCKED = new Set(['408', '500', '503']);
/** Tested above, below, in `overload.test.ts` and `conditions.test.ts`. */
const ELSEWHERE =
  /^(The record is not as|The answers kept|The credential is being|Too many requests of|A request with this)/;

/** Refusals of DPoP (RFC 9449) are provoked in `sign/401-dpop.test.ts`. */
const OF_DPOP: ReadonlySet<string> = new Set(Object.values(DPOP_REFUSALS).map(({ message }) => message));

/** How each refusal message is provoked; a 400 by the operation's invalid example. */
const PROVOKED: Readonly<Record<string, (send: Send, family: string) => Promise<{ text: string }>>> = {
  'A valid bearer credential is required.': (send) => send({ bearer: null }),
  'A management key is required.': (send) => send({ bearer: world.ours.apiKey }),
  'The grant does not carry the interns scope.': async (send) =>
    send({ bearer: await world.issuer.token({ subject: world.ours.subject, scope: 'vault:read' }) }),
  'Access was revoked.': async (send, family) => {
    if (family !== 'Interns') return send({ bearer: formerKey });
    const { subject } = world.theirs;
    return send({ bearer: await world.issuer.token({ subject, scope: 'interns' }) });
  },
  [PRESENTATIONS.insufficient_user_authentication.message]: async (send) => {
    const { userId, subject } = world.ours;
    const began = Math.floor(Date.now() / 1000) - 100;
    const session = await world.issuer.token({ subject, scope: 'interns', claims: { auth_time: began } });
    await revokeSessions(world.store, { userId });
    const reply = await send({ bearer: session });
    await clearRevokedSessions(world.store, { userId });
    return reply;
  },
  'Requests addressed to a regional hostname are refused for intern operations.': (send) =>
    send({ headers: ['Host', 'eu.ori.example'] }),
  'Not found.': (send, family) =>
    send({ absent: true, bearer: family === 'Interns' ? readerKey : managementKey }),
  'This Idempotency-Key was used for another request.': (send) =>
    send({ headers: ['Idempotency-Key', 'used'] }),
  'The request with this Idempotency-Key was executed, but its answer can no longer be read.': (send) =>
    send({ headers: ['Idempotency-Key', 'lost'] }),
  'The body is larger than 1048576 bytes.': (send) =>
    send({ body: 'x'.repeat(1_048_577), headers: ['Content-Type', 'application/json'] }),
  'The body must not have a content encoding.': (send) =>
    send({ body: '{}', headers: ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'] }),
};

interface Question {
  readonly bearer?: string | null;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly json?: unknown;
  readonly query?: string;
  /** Names a resource that does not exist. */
  readonly absent?: boolean;
}
type Send = (question: Question) => Promise<{ text: string }>;

const post = (key: string) =>
  world.call({
    method: 'POST',
    path: '/guardrails',
    json: { name: key },
    bearer: managementKey,
    headers: ['Idempotency-Key', key],
  });

/** Uses up two keys, and loses the answer of one. */
async function useKeys(): Promise<void> {
  for (const key of ['used', 'lost']) expect((await post(key)).status).toBe(201);
  await sql`
    update idempotency_keys set sealed_answer = 'x.x.x.x.x'
    where key_hash = (select key_hash from idempotency_keys order by created_at desc limit 1)`.execute(
    world.store.kysely,
  );
}

it('the keys of the refusals below are used up', () => useKeys());

it.each(OPERATIONS)('$operationId refuses as its examples show', async (operation) => {
  const { operationId, method, path, family, invalidExample } = operation;
  const { userId, workspaceId } = world.theirs;
  await removeMember(world.store, { userId, workspaceId }).catch(() => undefined);
  const send: Send = ({ absent = false, query, ...question }) => {
    const json = 'body' in question || 'json' in question ? undefined : requestOf(operationId);
    const target = absent ? path.replace(/\{\w+\}/, '00000000-0000-4000-8000-000000000000') : path;
    const search = query ?? (absent && path === '/interns' ? 'workspace_id=ws_other' : '');
    return world.call({
      method,
      path: pathOf(operationId, target) + (search && `?${search}`),
      bearer: family === 'Interns' ? readerKey : managementKey,
      ...(json !== undefined && { json }),
      ...question,
    });
  };
  const responses = Object.entries<Json>(described(operationId).responses);
  for (const [status, response] of responses) {
    for (const { value } of Object.values<Json>(response.content?.['application/json']?.examples ?? {})) {
      const { message } = value.error;
      if (BLOCKED.has(status) || ELSEWHERE.test(message) || OF_DPOP.has(message)) continue;
      const reply =
        status === '400' && invalidExample !== undefined
          ? await send('query' in invalidExample ? invalidExample : { json: invalidExample.body })
          : await PROVOKED[message]?.(send, family);
      expect([operationId, JSON.parse(reply?.text ?? 'null')]).toEqual([operationId, value]);
    }
  }
});

it('refuses a concurrent change as the example shows', async () => {
  const id = await createTestCredential(world.store, world.ours);
  await world.store.kysely.transaction().execute(async (trx) => {
    await sql`select 1 from byok_credentials where id = ${id} for update`.execute(trx);
    const { json } = await world.call({ method: 'PATCH', path: `/byok/${id}`, json: { name: 'x' } });
    const { examples } = described('updateByokCredential').responses[409].content['application/json'];
    expect(Object.values<Json>(examples).map(({ value }) => value)).toEqual([json]);
  });
});

it('fails without its database as the examples show', async () => {
  await using broken = await startManagementWorld({ wrap: (kysely) => kysely.withSchema('gone') });
  for (const { operationId, method, path, family } of OPERATIONS) {
    const bearer = family === 'Interns' ? broken.ours.apiKey : broken.ours.managementKey;
    const body = requestOf(operationId);
    const { status, json } = await broken.call({
      method,
      path: pathOf(operationId, path),
      bearer,
      ...(body !== undefined && { json: body }),
    });
    const { examples } = described(operationId).responses[status].content['application/json'];
    const values = Object.values<Json>(examples).map(({ value }) => value);
    expect([operationId, status >= 500, values]).toEqual([operationId, true, expect.arrayContaining([json])]);
  }
});
