import { disableApiKey } from '@ori/administration/api-keys';
import { createIntern } from '@ori/administration/interns';
import { addMember, removeMember } from '@ori/administration/members';
import { addSigningKey } from '@ori/administration/signing-keys';
import { addSubject, createUser } from '@ori/administration/users';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import type { World } from '../env/world.ts';

/** Adds `mary`, a former member of the workspace, and `grace`, who was never a member; `hal` does not exist. */
export async function createTenants({ store: db, demo, issuer, kekText }: World) {
  const { organizationId, workspaceId, internId, userId } = demo;
  const sealer = parseKekRing(kekText);
  const { id: outsideWorkspaceId } = await createWorkspace(db, {
    organizationId,
    name: 'Dependencies',
    inProgramme: false,
  });
  const { id: keylessInternId } = await createIntern(db, { workspaceId, name: 'keyless' });
  const { id: outsideInternId } = await createIntern(db, {
    workspaceId: outsideWorkspaceId,
    name: 'outside',
  });
  await addSigningKey(db, { internId: outsideInternId, sealer });
  await addMember(db, { workspaceId: outsideWorkspaceId, userId });

  const { id: maryId } = await createUser(db, { name: 'Mary' });
  await addSubject(db, { userId: maryId, issuer: issuer.url, subject: 'mary' });
  await addMember(db, { workspaceId, userId: maryId });
  await removeMember(db, { workspaceId, userId: maryId });
  const { id: graceId } = await createUser(db, { name: 'Grace' });
  await addSubject(db, { userId: graceId, issuer: issuer.url, subject: 'grace' });

  const internApiKey = await createApiKey(db, { kind: 'api', name: 'of the intern', workspaceId, internId });
  const managementKey = await createApiKey(db, { kind: 'management', name: 'management', organizationId });
  const disabled = await createApiKey(db, { kind: 'api', name: 'disabled', workspaceId });
  await disableApiKey(db, disabled);
  return {
    ...demo,
    /** In the workspace of the demo, without a signing key. */
    keylessInternId,
    /** In a workspace outside the programme, of which `ada` is a member too. */
    outsideInternId,
    internApiKey: internApiKey.key,
    managementKey: managementKey.key,
    disabledApiKey: disabled.key,
    /** The ring that seals signing seeds. */
    sealer,
  };
}

/** The demo data, and the other cases that a signing request can meet. */
export type Tenants = Awaited<ReturnType<typeof createTenants>>;
