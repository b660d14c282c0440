import { addMember } from '@ori/administration/members';
import { deleteWorkspace } from '@ori/administration/workspaces';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { createScenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { describe, expect, it } from 'vitest';
import { assign, KEYS, listAssignments } from '../../../services/management/src/assignments/queries.ts';
import { createGuardrail } from '../../../services/management/src/guardrails/queries.ts';
import { listOrganizationMembers } from '../../../services/management/src/workspaces/member-queries.ts';

describe('totals', () => {
  const store = useTestStore('postgres');

  it('count a person of several workspaces once, and nobody of a deleted one', async () => {
    const { organizationId, workspaceId, userId } = await createScenario(store.owner);
    const account = { organizationId };
    const db = store.as('ori_management');
    const { id: other } = await createWorkspace(store.owner, { organizationId, name: 'second' });
    await addMember(store.owner, { workspaceId: other, userId });
    const people = async () => {
      const { total, rows } = await listOrganizationMembers(db, account, { offset: 0, limit: 10 });
      return [total, rows.length];
    };
    expect(await people()).toEqual([1, 1]);
    await deleteWorkspace(store.owner, { workspaceId });
    expect(await people()).toEqual([1, 1]);
    await deleteWorkspace(store.owner, { workspaceId: other });
    expect(await people()).toEqual([0, 0]);
  });

  it('leave out the assignments of a guardrail in a deleted workspace', async () => {
    const { organizationId } = await createScenario(store.owner);
    const account = { organizationId };
    const db = store.as('ori_management');
    const { id: workspaceId } = await createWorkspace(store.owner, { organizationId, name: 'short-lived' });
    const { hash } = await createApiKey(store.owner, { kind: 'management', name: 'ops', organizationId });
    const { id: guardrailId } = await createGuardrail(db, account, workspaceId, { name: 'policy' });
    await assign(db, account, KEYS, { guardrailId, targets: [hash], assignedBy: null });
    const page = { offset: 0, limit: 10 };
    expect(await listAssignments(db, account, KEYS, page)).toMatchObject({
      total: 1,
      rows: [{ key_hash: hash }],
    });
    await deleteWorkspace(store.owner, { workspaceId });
    expect(await listAssignments(db, account, KEYS, page)).toEqual({ total: 0, rows: [] });
  });
});
