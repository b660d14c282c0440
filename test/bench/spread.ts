import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSigningKey } from '@ori/proof/signing';
import { parseKekRing, seal, seedContext } from '@ori/store/sealing';
import pg from 'pg';
import { fillWithInterns } from './intern-stage.ts';
import { checkProof } from './sign-checks.ts';
import { requestBytes, type SignStage } from './sign-stage.ts';

/** Requests to many interns, in the order in which they are sent. */
export interface Spread {
  /** Every intern equally often. */
  readonly even: readonly string[];
  /** The n-th intern 1/n times as often as the first (Zipf's law): 1 in 15 requests is for the first of a million interns. */
  readonly powerLaw: readonly string[];
  /** @throws Error unless each response has both signatures of the intern that the audit log names for its nonce */
  check(samples: readonly string[]): Promise<void>;
}

/** More than the number of opened keys that the signer caches. */
const DRAWS = 24_000;

/** Fills the stage's database with interns. Those that requests name get a usable key. */
export async function spreadOver({ world }: SignStage, interns: number, token: string): Promise<Spread> {
  await fillWithInterns(world, interns);
  const draws = {
    even: Array.from({ length: DRAWS }, () => Math.floor(Math.random() * (interns - 1)) + 1),
    powerLaw: Array.from({ length: DRAWS }, () => Math.floor((interns - 1) ** Math.random())),
  };
  const publicKeys = await addKeys(world, new Set([...draws.even, ...draws.powerLaw]));
  const requests = (numbers: readonly number[]) =>
    numbers.map((number) => requestBytes(world, token, { internId: internId(number) }));
  return {
    even: requests(draws.even),
    powerLaw: requests(draws.powerLaw),
    async check(samples) {
      const internOf = await internsByNonce(world.environment['SIGNER_AUDIT_FILE'] ?? '');
      for (const sample of samples) {
        checkProof(sample, (nonce) => {
          const intern = internOf.get(nonce) ?? '';
          return { internId: intern, key: publicKeys.get(intern) as KeyObject };
        });
      }
    },
  };
}

const internId = (number: number) => `int_${String(number).padStart(12, '0')}`;

/** Replaces what `fillWithInterns` wrote for these interns. */
async function addKeys(
  world: SignStage['world'],
  numbers: ReadonlySet<number>,
): Promise<Map<string, KeyObject>> {
  const ring = parseKekRing(world.kekText);
  const publicKeys = new Map<string, KeyObject>();
  const rows: { id: string; kid: string; publicKey: Buffer; sealed: string }[] = [];
  for (const number of numbers) {
    const id = `key_${String(number).padStart(12, '0')}`;
    const seed = new Uint8Array(randomBytes(32));
    const { kid, publicKey } = createSigningKey(seed);
    const sealed = await seal(ring, seed, seedContext({ id, internId: internId(number) }));
    rows.push({ id, kid, publicKey: Buffer.from(publicKey), sealed });
    const x = Buffer.from(publicKey).toString('base64url');
    publicKeys.set(
      internId(number),
      createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
    );
  }
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query(
      `update signing_keys k set kid = n.kid, public_key = n.public_key, sealed_seed = n.seed
       from unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) n (id, kid, public_key, seed) where k.id = n.id`,
      (['id', 'kid', 'publicKey', 'sealed'] as const).map((name) => rows.map((row) => row[name])),
    );
  } finally {
    await client.end();
  }
  return publicKeys;
}

async function internsByNonce(auditFile: string): Promise<Map<string, string>> {
  const lines = (await readFile(auditFile, 'utf8')).trimEnd().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ nonce, internId: id }) => [nonce, id]));
}
