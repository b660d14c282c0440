import { OpenRouter } from '@openrouter/sdk';

/** What the calls need; the management key and the API key are of one organization, the user is a member of it. */
export interface Given {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly managementKey: string;
  readonly userId: string;
}

const clientFor = (serverURL: string, apiKey: string) =>
  new OpenRouter({ serverURL, apiKey, retryConfig: { strategy: 'none' } });

async function first<Page>(pages: Promise<AsyncIterable<Page>>): Promise<Page> {
  for await (const page of await pages) return page;
  throw new Error('no page');
}

/**
 * Calls every operation of management with the family's public client, which checks each answer against its own
 * schemas. Leaves the account as it was. Returns what a test looks at.
 */
export async function callEverything({ baseUrl, apiKey, managementKey, userId }: Given) {
  const ours = clientFor(baseUrl, managementKey);
  const theirs = clientFor(baseUrl, apiKey);

  const interns = await theirs.interns.listInterns();
  const [internId = ''] = interns.data.map(({ id }) => id);
  const intern = await theirs.interns.getIntern({ internId });

  const slug = `client-${process.hrtime.bigint()}`;
  const { data: workspace } = await ours.workspaces.create({
    createWorkspaceRequest: { name: 'Of the client', slug, description: 'x' },
  });
  const place = { id: workspace.id };
  await ours.workspaces.get({ id: slug });
  await ours.workspaces.update({ ...place, updateWorkspaceRequest: { name: 'Renamed' } });
  const { result: workspaces } = await first(ours.workspaces.list());
  const people = await first(ours.organization.listMembers({ limit: 100 }));
  const userIds = [userId];
  const added = await ours.workspaces.bulkAddMembers({
    ...place,
    bulkAddWorkspaceMembersRequest: { userIds },
  });
  const { result: members } = await first(ours.workspaces.listMembers(place));

  const workspaceId = workspace.id;
  const expiresAt = new Date(Date.now() + 3_600_000);
  const key = await ours.apiKeys.create({
    requestBody: { name: 'ci', workspaceId, creatorUserId: userId, expiresAt, limit: null },
  });
  const { hash } = key.data;
  const own = await clientFor(baseUrl, key.key).apiKeys.getCurrentKeyMetadata();
  await ours.apiKeys.get({ hash });
  const renamed = await ours.apiKeys.update({ hash, requestBody: { name: 'cd', disabled: false } });
  const keys = await ours.apiKeys.list({ workspaceId, includeDisabled: true });

  const credential = await ours.byok.create({
    createBYOKKeyRequest: { provider: 'openai', key: 'sk-0123456789abcdefghijklmn', workspaceId },
  });
  const { id } = credential.data;
  await ours.byok.get({ id });
  await ours.byok.update({ id, updateBYOKKeyRequest: { name: 'production', allowedApiKeyHashes: [hash] } });
  const { result: credentials } = await first(ours.byok.list({ workspaceId }));

  const { data: guardrail } = await ours.guardrails.create({
    createGuardrailRequest: { name: 'policy', workspaceId, allowedProviders: ['openai'] },
  });
  const policy = { id: guardrail.id };
  await ours.guardrails.get(policy);
  await ours.guardrails.update({ ...policy, updateGuardrailRequest: { limitUsd: 5 } });
  const { result: guardrails } = await first(ours.guardrails.list({ workspaceId }));
  const keyHashes = [hash];
  await ours.guardrails.bulkAssignKeys({ ...policy, bulkAssignKeysRequest: { keyHashes } });
  const memberUserIds = [userId];
  await ours.guardrails.bulkAssignMembers({ ...policy, bulkAssignMembersRequest: { memberUserIds } });
  const { result: assignedKeys } = await first(ours.guardrails.listGuardrailKeyAssignments(policy));
  const { result: assignedMembers } = await first(ours.guardrails.listGuardrailMemberAssignments(policy));
  await first(ours.guardrails.listKeyAssignments());
  await first(ours.guardrails.listMemberAssignments());
  await ours.guardrails.bulkUnassignKeys({ ...policy, bulkUnassignKeysRequest: { keyHashes } });
  await ours.guardrails.bulkUnassignMembers({ ...policy, bulkUnassignMembersRequest: { memberUserIds } });

  const deleted = [
    await ours.guardrails.delete(policy),
    await ours.byok.delete({ id }),
    await ours.apiKeys.delete({ hash }),
  ];
  const removed = await ours.workspaces.bulkRemoveMembers({
    ...place,
    bulkRemoveWorkspaceMembersRequest: { userIds },
  });
  deleted.push(await ours.workspaces.delete(place));
  const refusal = await ours.workspaces.get(place).catch((error: { statusCode: number }) => error.statusCode);
  return {
    intern: intern.id === internId,
    workspace: workspaces.data.some((one) => one.id === workspaceId && one.name === 'Renamed'),
    person: people.result.data.some((one) => one.id === userId),
    members: [added.addedCount, members.data.map((one) => one.userId), removed.removedCount],
    key: [own.data.label === key.data.label, own.data.workspaceId === workspaceId, renamed.data.name],
    keys: keys.data.map((one) => one.hash === hash),
    credentials: credentials.data.filter((one) => one.id === id).map((one) => one.name),
    guardrails: guardrails.data.map((one) => one.limitUsd),
    assigned: [assignedKeys.data.length, assignedMembers.data.length],
    deleted,
    refusal,
  };
}

export const EVERYTHING_WORKED = (userId: string) => ({
  intern: true,
  workspace: true,
  person: true,
  members: [1, [userId], 1],
  key: [true, true, 'cd'],
  keys: [true],
  credentials: ['production'],
  guardrails: [5],
  assigned: [1, 1],
  deleted: Array(4).fill({ deleted: true }),
  refusal: 404,
});
