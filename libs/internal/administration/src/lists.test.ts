import { createScenario, type Scenario } from '@ori/test-env/scenario';
import { useTestStore } from '@ori/test-env/stores';
import { beforeAll, describe, expect, it } from 'vitest';
import { createIntern } from './interns.ts';
import { listAllInterns } from './lists.ts';
import { createNamedIntern, createNamedKey, createNamedOrganization } from './named.ts';

const coded = (code: string) => expect.objectContaining({ name: 'AdminError', code });

describe('queries', () => {
  const store = useTestStore('postgres');
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await createScenario(store.owner);
  });

  it('continues a list after its cursor: each row once, in order, also newest first', async () => {
    const { workspaceId } = scenario;
    for (const name of ['a', 'b', 'c', 'd']) await createIntern(store.owner, { workspaceId, name });
    const all = await listAllInterns(store.owner, { limit: 100, workspace_id: workspaceId });
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await listAllInterns(store.owner, { limit: 2, after, workspace_id: workspaceId });
      seen.push(...page.rows.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(all.rows.map(({ id }) => id));
    expect(seen.length).toBeGreaterThan(4);
    await expect(listAllInterns(store.owner, { limit: 2, after: 'x' })).rejects.toEqual(
      coded('invalid_input'),
    );
  });

  it('creates nothing a second time by name', async () => {
    const { workspaceId, organizationId } = scenario;
    const creations = [
      () => createNamedOrganization(store.owner, { name: 'Named' }),
      () => createNamedIntern(store.owner, { name: 'named', workspaceId }),
      () => createNamedKey(store.owner, { kind: 'api', name: 'named', workspaceId }),
      () => createNamedKey(store.owner, { kind: 'management', name: 'named', organizationId }),
    ];
    for (const create of creations) {
      const outcomes = await Promise.allSettled([create(), create()]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await expect(create()).rejects.toEqual(coded('conflict'));
    }
  });
});
