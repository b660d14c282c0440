import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setIcon } from '@ori/administration/icons';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import type { Database as Store } from '@ori/store/database';
import { openPostgres } from '@ori/store/postgres';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createCredential } from '@ori/store/writes/byok';
import { createDemo, type Demo } from '../env/demo.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../env/gateway.ts';
import { createHttpClient, type HttpClient } from '../env/http-client.ts';
import { startIssuer, type TestIssuer } from '../env/issuer.ts';
import { freePort } from '../env/ports.ts';
import { createDatabase, type PostgresServer } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { openRoom } from '../env/room.ts';
import { createService, type Service } from '../env/service.ts';
import { addShippedUser } from './redis-users.ts';

export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

/** So many requests may wait at once that none waits for another. */
export const CONNECTIONS_MAX = 512;

/** Everything that a deployment runs, as processes behind the shipped gateway, with one of each record in the database. */
export interface ShippedWorld extends AsyncDisposable {
  /** `https://localhost:<port>/v1`: the gateway's base URL and the audience of tokens. */
  readonly baseUrl: string;
  readonly gateway: Gateway;
  readonly client: HttpClient;
  readonly signers: readonly [Service, Service];
  readonly management: Service;
  readonly redis: RedisServer;
  readonly store: Store;
  /** With the login of the database's owner. */
  readonly databaseUrl: string;
  readonly issuer: TestIssuer;
  readonly demo: Demo;
  readonly managementKey: string;
  /** The KEK ring under which the signing seeds are sealed. */
  readonly kekText: string;
  readonly byokId: string;
  /** Every line of the audit files of both signers. */
  auditLines(): Promise<string[]>;
}

/** The question of a caller that has a call with this body signed. */
export function signingOf({ demo }: Pick<ShippedWorld, 'demo'>, body: string | Uint8Array, bearer: string) {
  const bodySha256 = createHash('sha256').update(body).digest('hex');
  const json = { bodySha256, route: { method: 'POST', path: '/api/invoke' } };
  return { method: 'POST', path: `/v1/interns/${demo.internId}/daemon/sign`, bearer, json };
}

/** The question of a caller to a daemon, with the signed headers. */
export const callWith = (proof: Record<string, string>, body: string) => ({
  method: 'POST',
  path: '/api/invoke',
  body,
  headers: { 'content-type': 'application/json', ...proof },
});

export async function startShippedWorld(
  signerEnvironment: Readonly<Record<string, string>> = {},
  gatewayOptions: Pick<GatewayOptions, 'requestsPerSecond' | 'behindBalancer'> = {},
  /** For every service. Names without the prefix. */
  environment: Readonly<Record<string, string>> = {},
  /** A private cluster for tests that stop it. */
  postgres?: PostgresServer,
): Promise<ShippedWorld> {
  await using stack = new AsyncDisposableStack();
  const [first, second, third] = await Promise.all([address(), address(), address()]);
  const gateway = stack.use(
    await startGateway({ signers: [first, second], management: [third], ...gatewayOptions }),
  );
  const baseUrl = `${gateway.secureUrl}/v1`;
  const issuer = stack.use(await startIssuer({ audience: baseUrl }));
  const room = stack.use(await openRoom('ori-shipped-redis'));
  const users = join(room.directory, 'users.acl');
  await writeFile(users, '');
  const redis = stack.use(await startRedis({ arguments: ['--aclfile', users] }));
  const database = stack.use(await createDatabase(postgres && { server: postgres }));
  const store = stack.adopt(openPostgres({ url: database.url, poolMax: 2 }), (open) => open.close());
  const kekText = generateKekRing('signer');
  const sealer = parseKekRing(kekText);
  const demo = await createDemo(store, { issuer: issuer.url, sealer });
  const managed = await addManaged(store, demo);

  const common = {
    ISSUER: issuer.url,
    AUDIENCE: baseUrl,
    TRUST_GATEWAY: 'true',
    INTROSPECTION_CLIENT_ID: issuer.introspectionClient.id,
    INTROSPECTION_CLIENT_SECRET_FILE: issuer.introspectionClient.secret,
    ...environment,
  };
  const signerOptions = {
    ...common,
    KEK_FILE: kekText,
    DATABASE_URL_FILE: database.signerUrl,
    REDIS_URL_FILE: await addShippedUser(redis.url, 'ori-signer'),
    TURNS_PER_USER: '1000000',
    TURNS_PER_ORGANIZATION: '10000000',
    TURN_WINDOW_SECONDS: '86400',
    ...signerEnvironment,
  };
  const signer = async (at: string) =>
    stack.use(await createService({ name: 'signer', address: at, environment: signerOptions }));
  const signers = [await signer(first), await signer(second)] as const;
  const management = stack.use(
    await createService({
      name: 'management',
      address: third,
      environment: {
        ...common,
        KEK_FILE: generateKekRing('management'),
        DATABASE_URL_FILE: database.managementUrl,
      },
    }),
  );
  await Promise.all([...signers, management].map((service) => service.start()));
  const client = stack.use(
    createHttpClient(gateway.secureUrl, { ...gateway, connectionsMax: CONNECTIONS_MAX }),
  );
  const owned = stack.move();
  return {
    baseUrl,
    gateway,
    client,
    signers,
    management,
    redis,
    store,
    issuer,
    demo,
    kekText,
    ...managed,
    databaseUrl: database.url,
    async auditLines() {
      const texts = signers.map(({ folder }) => readFile(join(folder, 'audit.jsonl'), 'utf8'));
      const lines = (await Promise.all(texts)).join('').split('\n').filter(Boolean);
      return lines.filter((line) => !line.includes('"event":"key_published"'));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * On Linux, where all of 127.0.0.0/8 is loopback, each service has its own address: while it restarts,
 * no other process can get its port and its requests.
 */
async function address(): Promise<string> {
  const own = () => randomInt(1, 255);
  const host = process.platform === 'linux' ? `127.${own()}.${own()}.${own()}` : '127.0.0.1';
  return `${host}:${await freePort()}`;
}

/** Adds records that management serves: an icon, a provider credential, and a key that can read it. */
async function addManaged(store: Store, { organizationId, workspaceId, internId }: Demo) {
  await setIcon(store, { internId, bytes: PNG });
  const byokId = randomUUID();
  await createCredential(store, {
    id: byokId,
    organization_id: organizationId,
    workspace_id: workspaceId,
    provider: 'openai',
    label: 'sk-...wxyz',
    sealed_key: randomBytes(16).toString('hex'),
  });
  const { key: managementKey } = await createApiKey(store, {
    kind: 'management',
    name: 'console',
    organizationId,
  });
  return { byokId, managementKey };
}
