import { randomBytes, randomUUID } from 'node:crypto';
import { addMember, removeMember } from '@ori/administration/members';
import { createOrganization } from '@ori/administration/organizations';
import type { SigningHome } from '@ori/administration/signing-keys';
import { createUser } from '@ori/administration/users';
import type { KekRing } from '@ori/sealing/kek-ring';
import { newCredential } from '@ori/store/byok/apply-update';
import { sealProviderKey } from '@ori/store/byok/seal-provider-key';
import type { Database } from '@ori/store/database';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createCredential } from '@ori/store/writes/byok';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { createOtherInterns, createSigningIntern, setDemoIcon } from './demo-interns.ts';

const NOTES = {
  ada: 'member of the workspace of the demo intern',
  grace: 'member of another organization',
  alan: 'member of a workspace outside the interns programme',
  mary: 'removed from the workspace of the demo intern',
} as const;

type CastName = keyof typeof NOTES;

/**
 * The same ids at each start, so that exported values and what `ori` trusts stay valid; other ones with `isLasting`, for
 * a database that must not get the same cast twice.
 */
export function demoCast(isLasting: boolean) {
  const random = () => randomBytes(8).toString('hex');
  const users = Object.entries(NOTES).map(([name, note]) => {
    /** The `sub` that the demo provider gives them. */
    const subject = `${name}-${isLasting ? random() : 'demo'}`;
    return { name, subject, note };
  });
  return { internId: isLasting ? `int_${random()}` : 'int_greeter', users };
}

/** The part that is known before there is a database. */
export type DemoCast = ReturnType<typeof demoCast>;

interface DemoIdentity extends SigningHome {
  readonly issuer: string;
  /** The public key with which the daemon of *analytical* proves its answers. */
  readonly answerKey: string;
}

/**
 * Writes two organizations with every case that the contract distinguishes: ada's workspace with the demo intern,
 * alan's outside the programme, and grace's in another organization, each with an intern that could sign.
 */
export async function createDemoData(db: Database, cast: DemoCast, identity: DemoIdentity) {
  const { issuer, answerKey, ...home } = identity;
  const { internId } = cast;
  const users: { name: string; subject: string; userId: string }[] = [];
  for (const { name, subject } of cast.users) {
    const { id: userId } = await createUser(db, { name, issuer, subject });
    users.push({ name, subject, userId });
  }
  const idOf = (wanted: CastName): string => users.find(({ name }) => name === wanted)?.userId ?? '';
  const createdBy = idOf('ada');

  const { id: organizationId } = await createOrganization(db, { name: 'Analytical Engines' });
  const { id: workspaceId } = await createWorkspace(db, {
    organizationId,
    name: 'engine room',
    isDefault: true,
    inProgramme: true,
  });
  await addMember(db, { workspaceId, userId: idOf('ada') });
  await addMember(db, { workspaceId, userId: idOf('mary') });
  await removeMember(db, { workspaceId, userId: idOf('mary') });
  /** Of the intern *analytical*. */
  const otherInternId = await createOtherInterns(db, home, workspaceId, createdBy);
  const { setAnswerKeys } = await import('@ori/administration/answer-keys');
  await setAnswerKeys(db, otherInternId, [answerKey], home);
  await createSigningIntern(db, home, { id: internId, workspaceId, name: 'greeter', createdBy });
  await setDemoIcon(db, internId);

  const outside = await createWorkspace(db, { organizationId, name: 'hut eight' });
  await addMember(db, { workspaceId: outside.id, userId: idOf('alan') });
  await createSigningIntern(db, home, { workspaceId: outside.id, name: 'bombe', createdBy: idOf('alan') });

  const elsewhere = await createOrganization(db, { name: 'Compiler Works' });
  const theirs = { organizationId: elsewhere.id, name: 'compilers', isDefault: true, inProgramme: true };
  const { id: theirWorkspaceId } = await createWorkspace(db, theirs);
  await addMember(db, { workspaceId: theirWorkspaceId, userId: idOf('grace') });
  const grace = { workspaceId: theirWorkspaceId, name: 'flowmatic', createdBy: idOf('grace') };
  await createSigningIntern(db, home, grace);

  const keyOf = { kind: 'api', workspaceId, createdBy } as const;
  const ordinary = await createApiKey(db, { ...keyOf, name: 'demo key' });
  const own = await createApiKey(db, { ...keyOf, name: 'key of the intern', internId });
  const managing = { kind: 'management', organizationId, createdBy } as const;
  const management = await createApiKey(db, { ...managing, name: 'demo management key' });
  const byokId = await createDemoCredential(db, home.sealer, { organizationId, workspaceId });
  const keys = { apiKey: ordinary.key, apiKeyHash: ordinary.hash, internApiKey: own.key };
  return { internId, otherInternId, workspaceId, users, ...keys, managementKey: management.key, byokId };
}

export type DemoData = Awaited<ReturnType<typeof createDemoData>>;

/** The key is a fake one. */
async function createDemoCredential(
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
