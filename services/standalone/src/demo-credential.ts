import { randomBytes, randomUUID } from 'node:crypto';
import type { KekRing } from '@ori/sealing/kek-ring';
import { createCredential } from '@ori/store/admin';
import { newCredential } from '@ori/store/byok/new-credential';
import { sealProviderKey } from '@ori/store/byok/seal-provider-key';
import type { Database } from '@ori/store/database';

/** The key is a fake one. */
export async function createDemoCredential(
  db: Database,
  sealer: KekRing,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
): Promise<string> {
  const key = `sk-demo-${randomBytes(18).toString('base64url')}`;
  const place = { id: randomUUID(), organization_id: organizationId };
  await createCredential(db, {
    ...place,
    ...newCredential('openai', { key, name: 'demo credential' }),
    workspace_id: workspaceId,
    provider: 'openai',
    sealed_key: await sealProviderKey(sealer, place, key),
  });
  return place.id;
}
