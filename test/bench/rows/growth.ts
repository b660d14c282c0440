import { randomUUID } from 'node:crypto';
import { managementQueries } from '@ori/store';
import { createApiKey, createCredential, createWorkspace } from '@ori/store/admin';
import { SIGN_BODY } from '../../env/world.ts';
import { type Account, openGrowthStage } from '../growth-stage.ts';
import type { Finding, Row } from '../row.ts';
import { type Asker, takeTurns } from '../take-turns.ts';

/** The cost of an account's operations in a small database, beside an account with many rows, and for that account. */
export const growthRow: Row = {
  name: 'growth',
  async run(bench) {
    const many = bench.isQuick ? 2000 : 1_000_000;
    const some = bench.isQuick ? 500 : 100_000;
    const perRound = bench.isQuick ? 4 : 30;
    const size = { members: many, keys: many, assignments: many, interns: some, guardrails: some };
    bench.progress(
      `filling a database with ${many} members, keys and assignments, ${some} interns and guardrails`,
    );
    await using stage = await openGrowthStage(size);
    const findings: Finding[] = [];
    const operations = [...Object.keys(await askersOf(stage.alone))];
    const askers = {
      alone: await askersOf(stage.alone),
      beside: await askersOf(stage.beside),
      large: await askersOf(stage.large),
    };
    for (const operation of operations) {
      const of = ({ [operation]: asker }: Readonly<Record<string, Asker>>) => asker as Asker;
      const sides = { alone: of(askers.alone), beside: of(askers.beside), large: of(askers.large) };
      bench.progress(operation);
      const took = await takeTurns(bench, sides, { perRound, warm: perRound });
      const finding = (title: string, name: string, ours: readonly number[], atMost: number) => ({
        title: `${operation}, ${title}`,
        ...{ unit: 'ms', ours: { name, rounds: ours }, theirs: { name: 'alone', rounds: took.alone } },
        mark: { atMost },
      });
      findings.push(
        finding(`beside ${many} of others`, 'beside', took.beside, 1.5),
        finding(`with ${many} of its own`, 'own', took.large, 3),
      );
    }
    return findings;
  },
};

async function askersOf(account: Account): Promise<Readonly<Record<string, Asker>>> {
  const { world, managementPort: port, organizationId, workspaceId, apiKey, managementKey } = account;
  const [assigned, other] = account.guardrailIds;
  const queries = managementQueries(world.store);
  const request = (method: string, path: string, bearer: string, host: string, body?: unknown) => {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const headers = [`Host: ${host}`, `Authorization: Bearer ${bearer}`];
    if (text !== '')
      headers.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
    return [`${method} /v1${path} HTTP/1.1`, ...headers, '', text].join('\r\n');
  };
  const host = `127.0.0.1:${port}`;
  const asker = (next: () => string | Promise<string>): Asker => ({ port, next, check: () => {} });
  const by = (bearer: string) => (method: string, path: string, body?: unknown) =>
    asker(() => request(method, path, bearer, host, body));
  const [reads, manages] = [by(apiKey), by(managementKey)];
  let turn = 0;
  /** Moves the same targets to another guardrail each time. */
  const assign = (segment: 'keys' | 'members', body: unknown) =>
    asker(() => {
      turn += 1;
      const to = turn % 2 === 0 ? assigned : other;
      return request('POST', `/guardrails/${to}/assignments/${segment}`, managementKey, host, body);
    });
  const keys = { key_hashes: account.keyHashes };
  const members = { member_user_ids: account.userIds };
  const unassign = (segment: 'keys' | 'members', targets: readonly string[], body: unknown) =>
    asker(async () => {
      const assignments = segment === 'keys' ? queries.keyAssignments : queries.memberAssignments;
      await assignments.assign({ organizationId }, { guardrailId: other, targets, assignedBy: null });
      return request('POST', `/guardrails/${other}/assignments/${segment}/remove`, managementKey, host, body);
    });
  /** A request to a path, once what it names was created. */
  const afterwards = (method: string, prepare: () => Promise<string>, body?: () => unknown) =>
    asker(async () => request(method, await prepare(), managementKey, host, body?.()));
  const [firstKey] = account.keyHashes;
  const [firstUser] = account.userIds;
  const people = { user_ids: account.userIds };
  const memberPath = `/workspaces/${workspaceId}/members`;
  const place = { organization_id: organizationId, workspace_id: workspaceId, provider: 'openai' } as const;
  const createdKey = async () =>
    `/keys/${(await createApiKey(world.store, { kind: 'api', name: 'new', workspaceId })).hash}`;
  const createdWorkspace = async () => {
    const wanted = { organizationId, name: 'new', slug: `w-${randomUUID()}` };
    return `/workspaces/${(await createWorkspace(world.store, wanted)).id}`;
  };
  const createdCredential = async () => {
    const id = randomUUID();
    await createCredential(world.store, { id, ...place, label: '...', sealed_key: 'sealed' });
    return `/byok/${id}`;
  };
  const renamed = () => ({ name: randomUUID() });
  const sample = { model: 'anthropic/claude-sonnet-4.5', provider: 'openai', text: 'ada@example.com' };
  const signerHost = new URL(world.baseUrl).host;
  const token = await account.accessToken();
  return {
    'GET /interns': reads('GET', '/interns'),
    'GET /interns/{id}/icon': reads('GET', `/interns/${account.internId}/icon`),
    'GET /byok': manages('GET', '/byok'),
    'PATCH /byok/{id}': asker(() =>
      request('PATCH', `/byok/${account.credentialId}`, managementKey, host, { name: randomUUID() }),
    ),
    'GET /guardrails': manages('GET', '/guardrails'),
    'POST /guardrails': manages('POST', '/guardrails', { name: 'new' }),
    'GET /guardrails/{id}': manages('GET', `/guardrails/${assigned}`),
    'PATCH /guardrails/{id}': asker(() =>
      request('PATCH', `/guardrails/${assigned}`, managementKey, host, { name: randomUUID() }),
    ),
    'DELETE /guardrails/{id}': asker(async () => {
      const created = await queries.createGuardrail(
        { organizationId },
        account.workspaceId,
        { name: 'x' },
        1e10,
      );
      return request('DELETE', `/guardrails/${created?.id}`, managementKey, host);
    }),
    'list keys of one guardrail': manages('GET', `/guardrails/${assigned}/assignments/keys`),
    'list members of one guardrail': manages('GET', `/guardrails/${assigned}/assignments/members`),
    'list all keys': manages('GET', '/guardrails/assignments/keys'),
    'list all members': manages('GET', '/guardrails/assignments/members'),
    'assign keys': assign('keys', keys),
    'assign members': assign('members', members),
    'unassign keys': unassign('keys', account.keyHashes, keys),
    'unassign members': unassign('members', account.userIds, members),
    'list all keys, of one': manages('GET', `/guardrails/assignments/keys?key_hash=${firstKey}`),
    'list all members, of one': manages('GET', `/guardrails/assignments/members?user_id=${firstUser}`),
    'POST /guardrails/{id}/evaluate': manages('POST', `/guardrails/${assigned}/evaluate`, sample),
    'GET /interns/{id}': reads('GET', `/interns/${account.internId}`),
    'GET /byok/{id}': manages('GET', `/byok/${account.credentialId}`),
    'POST /byok': manages('POST', '/byok', { provider: 'openai', key: 'sk-1234567890' }),
    'DELETE /byok/{id}': afterwards('DELETE', createdCredential),
    'GET /key': reads('GET', '/key'),
    'GET /keys': manages('GET', '/keys'),
    'GET /keys/{hash}': manages('GET', `/keys/${firstKey}`),
    'POST /keys': manages('POST', '/keys', { name: 'new' }),
    'PATCH /keys/{hash}': afterwards('PATCH', async () => `/keys/${firstKey}`, renamed),
    'DELETE /keys/{hash}': afterwards('DELETE', createdKey),
    'GET /organization/members': manages('GET', '/organization/members'),
    'GET /workspaces': manages('GET', '/workspaces'),
    'GET /workspaces/{id}': manages('GET', `/workspaces/${workspaceId}`),
    'PATCH /workspaces/{id}': afterwards('PATCH', async () => `/workspaces/${workspaceId}`, renamed),
    'GET /workspaces/{id}/members': manages('GET', memberPath),
    'remove members': manages('POST', `${memberPath}/remove`, people),
    'add members': manages('POST', `${memberPath}/add`, people),
    'POST /workspaces': afterwards(
      'POST',
      async () => '/workspaces',
      () => ({ name: 'new', slug: `w-${randomUUID()}` }),
    ),
    'DELETE /workspaces/{id}': afterwards('DELETE', createdWorkspace),
    sign: {
      port: Number(new URL(world.baseUrl).port),
      next: () => request('POST', `/interns/${account.internId}/daemon/sign`, token, signerHost, SIGN_BODY),
      check: () => {},
    },
  };
}
