import { randomBytes } from 'node:crypto';
import type { Database } from '@ori/store';
import {
  addMember,
  addSubject,
  createApiKey,
  createOrganization,
  createUser,
  createWorkspace,
  removeMember,
} from '@ori/store/admin';
import { createOtherInterns, createSigningIntern, type SignerHome, setDemoIcon } from './demo-interns.ts';

export interface DemoUser {
  readonly name: string;
  /** The `sub` that the demo provider gives them. */
  readonly subject: string;
  /** What they are there to show. */
  readonly note: string;
}

const NOTES = {
  ada: 'member of the workspace of the demo intern',
  grace: 'member of another organization',
  alan: 'member of a workspace outside the interns programme',
  mary: 'removed from the workspace of the demo intern',
} as const;

/** The demo members. Their subjects are new each time, so that a database that is kept never meets one twice. */
export function inventUsers(): DemoUser[] {
  return Object.entries(NOTES).map(([name, note]) => {
    return { name, subject: `${name}-${randomBytes(8).toString('hex')}`, note };
  });
}

export interface DemoData {
  readonly internId: string;
  readonly workspaceId: string;
  /** The intern of grace's organization, and the one of alan's workspace. */
  readonly otherInternIds: { readonly grace: string; readonly alan: string };
  readonly users: readonly { name: string; subject: string; userId: string }[];
  readonly apiKey: string;
  readonly apiKeyHash: string;
  readonly internApiKey: string;
  readonly managementKey: string;
}

/** Writes two organizations with everything that the contract tells apart. Returns the keys that are shown once. */
export async function createDemoData(
  db: Database,
  members: readonly DemoUser[],
  home: SignerHome,
): Promise<DemoData> {
  const userIds: Record<string, string> = {};
  const users = [];
  for (const { name, subject } of members) {
    const { id: userId } = await createUser(db, { name });
    await addSubject(db, { userId, issuer: home.issuer, subject });
    userIds[name] = userId;
    users.push({ name, subject, userId });
  }
  const idOf = (name: keyof typeof NOTES): string => userIds[name] ?? '';

  const { id: organizationId } = await createOrganization(db, { name: 'Analytical Engines' });
  const workspace = { organizationId, name: 'engine room', isDefault: true, inProgramme: true };
  const { id: workspaceId } = await createWorkspace(db, workspace);
  await addMember(db, { workspaceId, userId: idOf('ada') });
  await addMember(db, { workspaceId, userId: idOf('mary') });
  await removeMember(db, { workspaceId, userId: idOf('mary') });
  await createOtherInterns(db, workspaceId, idOf('ada'));
  const internId = await createSigningIntern(db, home, {
    workspaceId,
    name: 'difference',
    createdBy: idOf('ada'),
  });
  await setDemoIcon(db, internId);

  const outside = await createWorkspace(db, { organizationId, name: 'hut eight', inProgramme: false });
  await addMember(db, { workspaceId: outside.id, userId: idOf('alan') });
  const alan = { workspaceId: outside.id, name: 'bombe', createdBy: idOf('alan') };

  const elsewhere = await createOrganization(db, { name: 'Compiler Works' });
  const theirs = { organizationId: elsewhere.id, name: 'compilers', isDefault: true, inProgramme: true };
  const { id: theirWorkspaceId } = await createWorkspace(db, theirs);
  await addMember(db, { workspaceId: theirWorkspaceId, userId: idOf('grace') });
  const grace = { workspaceId: theirWorkspaceId, name: 'flowmatic', createdBy: idOf('grace') };

  const createdBy = idOf('ada');
  const ordinary = await createApiKey(db, { kind: 'api', name: 'demo key', workspaceId, createdBy });
  const own = await createApiKey(db, {
    kind: 'api',
    name: 'key of the intern',
    workspaceId,
    internId,
    createdBy,
  });
  const managing = { kind: 'management', name: 'demo management key', organizationId, createdBy } as const;
  const management = await createApiKey(db, managing);
  return {
    internId,
    workspaceId,
    otherInternIds: {
      grace: await createSigningIntern(db, home, grace),
      alan: await createSigningIntern(db, home, alan),
    },
    users,
    apiKey: ordinary.key,
    apiKeyHash: ordinary.hash,
    internApiKey: own.key,
    managementKey: management.key,
  };
}
