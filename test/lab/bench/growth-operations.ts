import { randomUUID } from 'node:crypto';
import { createApiKey, createCredential, createWorkspace } from '@ori/store/admin';
import { managementQueries } from '@ori/store/management';
import { SIGN_BODY } from '../../env/world.ts';
import type { Account } from './growth-stage.ts';

/** A client of one server. */
export interface Asker {
  readonly port: number;
  /** The complete next request. */
  next(): Promise<string>;
}

type Call = readonly [method: string, path: string, body?: unknown];

/** Every operation of management, and a signature, for this account. */
export async function askersOf(account: Account): Promise<Readonly<Record<string, Asker>>> {
  const { world, managementPort, organizationId, workspaceId, apiKey, managementKey } = account;
  const { internId, credentialId, keyHashes, userIds } = account;
  const [assigned, other] = account.guardrailIds;
  const queries = managementQueries(world.store);
  const asker = (port: number, bearer: string, next: () => Call | Promise<Call>): Asker => ({
    port,
    async next() {
      const [method, path, body] = await next();
      const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
      const head = [
        `${method} /v1${path} HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${bearer}`,
      ];
      if (text !== '')
        head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
      return [...head, '', text].join('\r\n');
    },
  });
  const reads = (path: string) => asker(managementPort, apiKey, () => ['GET', path]);
  const manages = (next: () => Call | Promise<Call>) => asker(managementPort, managementKey, next);
  const lists = (path: string) => manages(() => ['GET', path]);
  const posts = (path: string, body: unknown) => manages(() => ['POST', path, body]);
  /** Sends another name each time. */
  const renames = (path: string) => manages(() => ['PATCH', path, { name: randomUUID() }]);
  /** Deletes what was created just before. */
  const deletes = (create: () => Promise<string>) => manages(async () => ['DELETE', await create()]);
  const kinds = {
    keys: { assignments: queries.keyAssignments, targets: keyHashes, body: { key_hashes: keyHashes } },
    members: { assignments: queries.memberAssignments, targets: userIds, body: { member_user_ids: userIds } },
  };
  let turn = 0;
  /** Moves the same targets to another guardrail each time. */
  const assigns = (kind: keyof typeof kinds) =>
    manages(() => {
      turn += 1;
      const to = turn % 2 === 0 ? assigned : other;
      return ['POST', `/guardrails/${to}/assignments/${kind}`, kinds[kind].body];
    });
  const unassigns = (kind: keyof typeof kinds) =>
    manages(async () => {
      const { assignments, targets, body } = kinds[kind];
      await assignments.assign({ organizationId }, { guardrailId: other, targets, assignedBy: null });
      return ['POST', `/guardrails/${other}/assignments/${kind}/remove`, body];
    });
  const createdGuardrail = async () => {
    const created = await queries.createGuardrail({ organizationId }, workspaceId, { name: 'x' }, 1e10);
    return `/guardrails/${created?.id}`;
  };
  const createdKey = async () =>
    `/keys/${(await createApiKey(world.store, { kind: 'api', name: 'new', workspaceId })).hash}`;
  const createdWorkspace = async () => {
    const wanted = { organizationId, name: 'new', slug: `w-${randomUUID()}` };
    return `/workspaces/${(await createWorkspace(world.store, wanted)).id}`;
  };
  const createdCredential = async () => {
    const id = randomUUID();
    await createCredential(world.store, {
      id,
      organization_id: organizationId,
      workspace_id: workspaceId,
      provider: 'openai',
      label: '...',
      sealed_key: 'sealed',
    });
    return `/byok/${id}`;
  };
  const memberPath = `/workspaces/${workspaceId}/members`;
  const sample = { model: 'anthropic/claude-sonnet-4.5', provider: 'openai', text: 'ada@example.com' };
  const signPath = `/interns/${internId}/daemon/sign`;
  return {
    'GET /interns': reads('/interns'),
    'GET /interns/{id}': reads(`/interns/${internId}`),
    'GET /interns/{id}/icon': reads(`/interns/${internId}/icon`),
    'GET /byok': lists('/byok'),
    'GET /byok/{id}': lists(`/byok/${credentialId}`),
    'POST /byok': posts('/byok', { provider: 'openai', key: 'sk-1234567890' }),
    'PATCH /byok/{id}': renames(`/byok/${credentialId}`),
    'DELETE /byok/{id}': deletes(createdCredential),
    'GET /guardrails': lists('/guardrails'),
    'GET /guardrails/{id}': lists(`/guardrails/${assigned}`),
    'POST /guardrails': posts('/guardrails', { name: 'new' }),
    'POST /guardrails/{id}/evaluate': posts(`/guardrails/${assigned}/evaluate`, sample),
    'PATCH /guardrails/{id}': renames(`/guardrails/${assigned}`),
    'DELETE /guardrails/{id}': deletes(createdGuardrail),
    'list keys of one guardrail': lists(`/guardrails/${assigned}/assignments/keys`),
    'list members of one guardrail': lists(`/guardrails/${assigned}/assignments/members`),
    'list all keys': lists('/guardrails/assignments/keys'),
    'list all members': lists('/guardrails/assignments/members'),
    'list all keys, of one': lists(`/guardrails/assignments/keys?key_hash=${keyHashes[0]}`),
    'list all members, of one': lists(`/guardrails/assignments/members?user_id=${userIds[0]}`),
    'assign keys': assigns('keys'),
    'assign members': assigns('members'),
    'unassign keys': unassigns('keys'),
    'unassign members': unassigns('members'),
    'GET /key': reads('/key'),
    'GET /keys': lists('/keys'),
    'GET /keys/{hash}': lists(`/keys/${keyHashes[0]}`),
    'POST /keys': posts('/keys', { name: 'new' }),
    'PATCH /keys/{hash}': renames(`/keys/${keyHashes[0]}`),
    'DELETE /keys/{hash}': deletes(createdKey),
    'GET /organization/members': lists('/organization/members'),
    'GET /workspaces': lists('/workspaces'),
    'GET /workspaces/{id}': lists(`/workspaces/${workspaceId}`),
    'POST /workspaces': manages(() => ['POST', '/workspaces', { name: 'new', slug: `w-${randomUUID()}` }]),
    'PATCH /workspaces/{id}': renames(`/workspaces/${workspaceId}`),
    'DELETE /workspaces/{id}': deletes(createdWorkspace),
    'GET /workspaces/{id}/members': lists(memberPath),
    'remove members': posts(`${memberPath}/remove`, { user_ids: userIds }),
    'add members': posts(`${memberPath}/add`, { user_ids: userIds }),
    sign: asker(Number(new URL(world.baseUrl).port), await account.accessToken(), () => [
      'POST',
      signPath,
      SIGN_BODY,
    ]),
  };
}
