import { createIntern } from '@ori/administration/interns';
import { addMember } from '@ori/administration/members';
import { createOrganization } from '@ori/administration/organizations';
import { addSubject, createUser } from '@ori/administration/users';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import type { Database } from '@ori/store/database';
import { createWorkspace } from '@ori/store/writes/workspaces';

export const HOME = { issuer: 'https://issuer.test', baseUrl: 'https://api.test/v1' } as const;

/** @param person the member's issuer and subject; by default a new one of `HOME` */
export async function createScenario(
  db: Database,
  person: { readonly issuer?: string; readonly subject?: string } = {},
) {
  const { id: organizationId } = await createOrganization(db, { name: 'Analytical' });
  const { id: workspaceId } = await createWorkspace(db, {
    organizationId,
    name: 'engines',
    inProgramme: true,
  });
  const { id: userId } = await createUser(db, { name: 'Ada' });
  const { id: internId } = await createIntern(db, { workspaceId, name: 'charles' });
  const { issuer = HOME.issuer, subject = `subject|${userId}` } = person;
  await addSubject(db, { userId, issuer, subject });
  await addMember(db, { workspaceId, userId });
  return {
    organizationId,
    workspaceId,
    userId,
    internId,
    question: { issuer, subject, internId },
  };
}

/** An intern in a workspace of the programme, and a member of that workspace. */
export type Scenario = Awaited<ReturnType<typeof createScenario>>;

export const createRing = (): ReturnType<typeof parseKekRing> => parseKekRing(generateKekRing('signer'));
