import { randomBytes } from 'node:crypto';
import type { KeyStater } from '@ori/administration/key-statements';
import { addSigningKey } from '@ori/administration/signing-keys';
import type { KekRing } from '@ori/sealing/kek-ring';
import type { Database } from '@ori/store/database';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createScenario, type Scenario } from './scenario.ts';

/** The issuer of the member's tokens, and the ring that seals the signing seed. */
interface DemoHome {
  readonly issuer: string;
  readonly sealer: KekRing;
  readonly stater?: KeyStater | undefined;
}

/** A scenario whose member is `ada`, with a signing key and an API key. */
export interface Demo extends Omit<Scenario, 'question'> {
  readonly publicKey: Uint8Array;
  /** The seed of the intern's signing key: 32 bytes. */
  readonly seed: Uint8Array;
  readonly apiKey: string;
}

export async function createDemo(db: Database, { issuer, sealer, stater }: DemoHome): Promise<Demo> {
  const scenario = await createScenario(db, { issuer, subject: 'ada' });
  const { internId, workspaceId } = scenario;
  const seed = randomBytes(32);
  const { publicKey } = await addSigningKey(db, { internId, seed, sealer, stater });
  const { key: apiKey } = await createApiKey(db, { kind: 'api', name: 'ordinary', workspaceId });
  return { ...scenario, publicKey, seed, apiKey };
}
