import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import type { SignerParts } from '@ori/signer';
import type { SignerConfig } from '@ori/signer/config';
import { openPostgres } from '@ori/store/postgres';
import { createDemo } from './demo.ts';
import { createHttpClient, type Reply } from './http-client.ts';
import { startIssuer } from './issuer.ts';
import { freePort } from './ports.ts';
import { createDatabase, type PostgresServer, startPostgres } from './postgres.ts';
import { type RedisServer, sharedRedisUrl, startRedis } from './redis.ts';
import { openRoom } from './room.ts';
import { createWorldRoot } from './root.ts';
import { isTestRun } from './run.ts';
import { hostAsProcess, hostInProcess } from './signer-host.ts';

export interface WorldOptions {
  /** Of the API; a free one by default. */
  readonly port?: number;
  /** Runs the signer as a separate process, configured by its environment only. Default: in this process. */
  readonly process?: boolean;
  /** Names without `SIGNER_`. Turns are practically unlimited unless set. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The deployment has a root, and the signer its roles. */
  readonly root?: boolean;
  /** Only for a signer in this process. */
  readonly config?: Partial<SignerConfig>;
  readonly parts?: Partial<SignerParts>;
  /** Servers to use and leave running. Default: the run's shared ones; in a script, new ones. */
  readonly redis?: Pick<RedisServer, 'url'>;
  readonly postgres?: Pick<PostgresServer, 'url'>;
  readonly introspectionClient?: { readonly id: string; readonly secret: string };
}

/** A signing request. Omitted members are valid. */
export interface SignOptions {
  /** Default: a new token of `ada`. Null: no Authorization header. */
  readonly bearer?: string | null;
  readonly internId?: string;
  readonly body?: string | Uint8Array;
}

export const BODY_SHA256 = '8a44725210b9dcd4fefd9f0eca07b70ae45e69274a3105fb25eb426a2cf8bbf4';
export const SIGN_BODY = JSON.stringify({
  bodySha256: BODY_SHA256,
  route: { method: 'POST', path: '/api/invoke' },
});

export async function startWorld(options: WorldOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-world'));
  const [port, opsPort] = await Promise.all([options.port ?? freePort(), freePort()]);
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const redisUrl = options.redis?.url ?? (await ownOrSharedRedis(stack));
  const client = options.introspectionClient;
  const issuer = stack.use(
    await startIssuer({ audience: baseUrl, ...(client && { introspectionClient: client }) }),
  );
  const database = stack.use(await createDatabase(await serverOf(options, stack)));
  const store = openPostgres({ url: database.url, poolMax: 2 });
  stack.defer(() => store.close());
  const kekText = generateKekRing('signer');
  const root = options.root ? await createWorldRoot(room, baseUrl) : undefined;
  const home = { issuer: issuer.url, sealer: parseKekRing(kekText), stater: root?.stater };
  const demo = await createDemo(store, home);

  const [kekFile, auditFile] = [join(room.directory, 'kek.json'), join(room.directory, 'audit.jsonl')];
  await writeFile(kekFile, kekText, { mode: 0o600 });
  const environment = {
    SIGNER_PORT: String(port),
    SIGNER_OPS_PORT: String(opsPort),
    SIGNER_DATABASE_URL: database.signerUrl,
    SIGNER_REDIS_URL: redisUrl,
    SIGNER_ISSUER: issuer.url,
    SIGNER_AUDIENCE: baseUrl,
    SIGNER_KEK_FILE: kekFile,
    SIGNER_AUDIT_FILE: auditFile,
    SIGNER_INTROSPECTION_CLIENT_ID: issuer.introspectionClient.id,
    SIGNER_INTROSPECTION_CLIENT_SECRET: issuer.introspectionClient.secret,
    SIGNER_TURNS_PER_USER: '1000000',
    SIGNER_TURNS_PER_ORGANIZATION: '10000000',
    ...root?.environment,
    ...prefixed(options.environment ?? {}),
  };
  const signer = stack.use(
    await (options.process
      ? hostAsProcess(environment, room)
      : hostInProcess(environment, options.config, options.parts)),
  );
  const http = stack.use(createHttpClient(baseUrl));
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const ops = stack.use(createHttpClient(opsUrl));
  const signPath = `/v1/interns/${demo.internId}/daemon/sign`;
  const page = (path: '/livez' | '/readyz' | '/metrics') => ops.ask({ path });
  const ready = async () => {
    while ((await page('/readyz')).status !== 200) await pause(20);
  };
  await ready();
  const owned = stack.move();

  return {
    /** Ends in `/v1`. Also the audience of the tokens. */
    baseUrl,
    opsUrl,
    issuer,
    demo,
    store,
    /** With the option `root`. */
    root,
    http,
    signer,
    /** The environment of a process of this signer. */
    environment,
    /** The signer's KEK ring, not wrapped. */
    kekText,
    signPath,
    /** Requests a page of the ops port. */
    page,
    /** Resolves once `/readyz` is 200. */
    ready,
    /** The database URL with the owner's login, and with a management service's login. */
    databaseUrl: database.url,
    /** Management's KEK ring. */
    managementKekText: generateKekRing('management'),
    managementDatabaseUrl: database.managementUrl,
    async sign({ bearer, internId, body = SIGN_BODY }: SignOptions = {}): Promise<Reply> {
      const credential = bearer === undefined ? await issuer.token() : bearer;
      const path = internId === undefined ? signPath : `/v1/interns/${internId}/daemon/sign`;
      const authorization = credential === null ? [] : ['Authorization', `Bearer ${credential}`];
      const headers = [...authorization, 'Content-Type', 'application/json'];
      return http.ask({ method: 'POST', path, headers, body });
    },
    token: issuer.token,
    audit: () => readFile(auditFile, 'utf8'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Redis, PostgreSQL, an issuer and a signer on free loopback ports, and one of each record in the database. */
export type World = Awaited<ReturnType<typeof startWorld>>;

/** `metadata.reason` of an error envelope. */
export function reasonOf(reply: Reply): string | undefined {
  const { error } = JSON.parse(reply.text) as { error?: { metadata?: { reason?: string } } };
  return error?.metadata?.reason;
}

async function ownOrSharedRedis(stack: AsyncDisposableStack): Promise<string> {
  return isTestRun ? sharedRedisUrl() : stack.use(await startRedis()).url;
}

async function serverOf({ postgres }: WorldOptions, stack: AsyncDisposableStack) {
  if (postgres) return { server: postgres };
  return isTestRun ? {} : { server: stack.use(await startPostgres()) };
}

function prefixed(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [`SIGNER_${name}`, value]));
}
