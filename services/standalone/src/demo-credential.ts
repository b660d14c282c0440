import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '@ori/store';
import { createCredential } from '@ori/store/admin';
import { maskSecret } from '@ori/store/mask';
import { credentialContext, type KekRing, seal } from '@ori/store/sealing';

/** A provider credential with a fake key. */
export async function createDemoCredential(
  db: Database,
  sealer: KekRing,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
): Promise<string> {
  const key = `sk-demo-${randomBytes(18).toString('base64url')}`;
  const place = { id: randomUUID(), organization_id: organizationId };
  await createCredential(db, {
    ...place,
    workspace_id: workspaceId,
    provider: 'openai',
    name: 'demo credential',
    label: maskSecret(key),
    sealed_key: await seal(sealer, new TextEncoder().encode(key), credentialContext(place)),
  });
  return place.id;
}
