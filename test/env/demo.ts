import { randomBytes } from 'node:crypto';
import type { Database } from '@ori/store';
import {
  addMember,
  addSigningKey,
  addSubject,
  createApiKey,
  createIntern,
  createOrganization,
  createUser,
  createWorkspace,
  type KeyStater,
} from '@ori/store/admin';
import type { KekRing } from '@ori/store/sealing';

/** The issuer of the member's tokens, and the ring that seals the signing seed. */
export interface DemoHome {
  readonly issuer: string;
  readonly sealer: KekRing;
  readonly stater?: KeyStater | undefined;
}

/** One organization with one record of each kind; its member is `ada`, a subject of the issuer. */
export interface Demo {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly internId: string;
  /** The seed of the intern's signing key: 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly seed: Uint8Array;
  readonly apiKey: string;
}

export async function createDemo(db: Database, home: DemoHome): Promise<Demo> {
  const { id: organizationId } = await createOrganization(db, { name: 'Analytical Engines' });
  const { id: workspaceId } = await createWorkspace(db, {
    organizationId,
    name: 'Workshop',
    inProgramme: true,
  });
  const { id: userId } = await createUser(db, { name: 'Ada' });
  await addSubject(db, { userId, issuer: home.issuer, subject: 'ada' });
  await addMember(db, { workspaceId, userId });
  const { id: internId } = await createIntern(db, { workspaceId, name: 'intern' });
  const seed = randomBytes(32);
  const { publicKey } = await addSigningKey(db, { internId, seed, sealer: home.sealer, stater: home.stater });
  const { key: apiKey } = await createApiKey(db, { kind: 'api', name: 'ordinary', workspaceId });
  return { organizationId, workspaceId, userId, internId, publicKey, seed, apiKey };
}
