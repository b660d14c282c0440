import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteKeySet, createVerifier } from '@ori/verifier';
import { createRootedKeySet, type RootJwk } from '@ori/verifier/rooted';
import pg from 'pg';
import { startIssuer, type TestIssuer } from '../env/issuer.ts';
import { freePort } from '../env/ports.ts';
import { createDatabase } from '../env/postgres.ts';
import { sharedRedisUrl } from '../env/redis.ts';
import { openRoom, type Room } from '../env/room.ts';
import { hostInProcess, type SignerHost } from '../env/signer-host.ts';
import { createOriAdmin, type OriAdmin } from './ori-admin-process.ts';

/** An empty database, an issuer, and an operator who has only `ori-admin`. */
export interface OperatorWorld extends AsyncDisposable {
  readonly admin: OriAdmin;
  /** The environment of `admin`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly issuer: TestIssuer;
  readonly room: Room;
  readonly databaseUrl: string;
  readonly port: number;
  readonly baseUrl: string;
  /** The signer's ring, and management's. */
  readonly kekFile: string;
  readonly managementKekFile: string;
  /** Creates a login that is a member of only this role, as the README describes. Returns its address. */
  createLogin(role: 'ori_signer' | 'ori_management' | 'ori_operator'): Promise<string>;
  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  /** A signer on `port`, which has what the operator made. */
  startSigner(more?: Readonly<Record<string, string>>): Promise<SignerHost>;
  /** Asks it for a proof of BODY at /api/invoke, for a call of this intern by Ada. */
  sign(internId: string): Promise<Response>;
}

export const BODY = '{"prompt":"hello"}';

/** The claims of a proof of BODY, for a daemon that takes the intern's keys from the signer; replay is not tested here. */
export function verified(
  { baseUrl }: Pick<OperatorWorld, 'baseUrl'>,
  internId: string,
  proof: Readonly<Record<string, string>>,
  root?: RootJwk,
) {
  const url = `${baseUrl}/interns/${internId}/daemon/jwks.json`;
  const keys = root === undefined ? createRemoteKeySet(url) : createRootedKeySet(url, { root });
  const verifier = createVerifier({ internId, keys, replay: { spend: () => 'spent' } });
  const rawHeaders = ['content-type', 'application/json', ...Object.entries(proof).flat()];
  return verifier.verify({ method: 'POST', target: '/api/invoke', rawHeaders, body: Buffer.from(BODY) });
}

export async function startOperatorWorld(): Promise<OperatorWorld> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-admin'));
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const issuer = stack.use(await startIssuer({ audience: baseUrl }));
  const database = stack.use(await createDatabase({ migrated: false }));
  const kekFile = join(room.directory, 'kek.json');
  const managementKekFile = join(room.directory, 'management-kek.json');
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  stack.defer(() => client.end());
  const environment = {
    ORI_ADMIN_DATABASE_URL: database.url,
    ORI_ADMIN_SIGNER_KEK_FILE: kekFile,
    ORI_ADMIN_MANAGEMENT_KEK_FILE: managementKekFile,
    ORI_ADMIN_ISSUER: issuer.url,
    ORI_ADMIN_BASE_URL: baseUrl,
  };
  const owned = stack.move();
  const createLogin: OperatorWorld['createLogin'] = async (role) => {
    const [name, password] = [
      `${database.name}_${randomBytes(3).toString('hex')}`,
      randomBytes(12).toString('hex'),
    ];
    await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' IN ROLE ${role}`);
    owned.defer(async () => {
      const owner = new pg.Client({ connectionString: database.url });
      await owner.connect();
      await owner.query(`DROP ROLE IF EXISTS ${name}`);
      await owner.end();
    });
    const url = new URL(database.url);
    Object.assign(url, { username: name, password });
    return url.href;
  };
  return {
    issuer,
    room,
    port,
    baseUrl,
    kekFile,
    managementKekFile,
    databaseUrl: database.url,
    admin: createOriAdmin(environment),
    environment,
    createLogin,
    async startSigner(more) {
      const opsPort = await freePort();
      const signer = await hostInProcess({
        SIGNER_PORT: String(port),
        SIGNER_OPS_PORT: String(opsPort),
        SIGNER_DATABASE_URL: await createLogin('ori_signer'),
        SIGNER_REDIS_URL: sharedRedisUrl(),
        SIGNER_ISSUER: issuer.url,
        SIGNER_AUDIENCE: baseUrl,
        SIGNER_KEK_FILE: kekFile,
        SIGNER_AUDIT_FILE: join(room.directory, 'audit.jsonl'),
        ...more,
      });
      while ((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status !== 200) await pause(20);
      return signer;
    },
    sign: async (internId) =>
      fetch(`${baseUrl}/interns/${internId}/daemon/sign`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await issuer.token()}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          bodySha256: createHash('sha256').update(BODY).digest('hex'),
          route: { method: 'POST', path: '/api/invoke' },
        }),
      }),
    query: async (sql) => (await client.query(sql)).rows,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
