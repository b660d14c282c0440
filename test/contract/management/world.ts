import { randomUUID } from 'node:crypto';
import { createIntern } from '@ori/administration/interns';
import { addMember } from '@ori/administration/members';
import { createOrganization } from '@ori/administration/organizations';
import { addSubject, createUser } from '@ori/administration/users';
import {
  loadManagementConfig,
  type ManagementConfig,
  type ManagementParts,
  startManagement,
} from '@ori/management';
import { createLogger } from '@ori/runtime/log';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import type { KekRing } from '@ori/sealing/kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import type { Database } from '@ori/store/database';
import { openPostgres } from '@ori/store/postgres';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createCredential } from '@ori/store/writes/byok';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { afterAll, expect } from 'vitest';
import { type Ask, createHttpClient, type HttpClient, type Reply } from '../../env/http-client.ts';
import { startIssuer, type TestIssuer } from '../../env/issuer.ts';
import { freePort } from '../../env/ports.ts';
import { createDatabase } from '../../env/postgres.ts';
import { requireDocumented } from '../openapi-check.ts';

/** A request of the API, below the base address; `bearer` null sends no Authorization header. */
export interface ApiCall extends Omit<Ask, 'bearer'> {
  readonly bearer?: string | null;
}

export interface ApiReply extends Omit<Reply, 'json'> {
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is what it knows to be there
  readonly json: any;
}

export interface ManagementWorld extends AsyncDisposable {
  readonly baseUrl: string;
  readonly opsUrl: string;
  readonly issuer: TestIssuer;
  /** A connection as the owner of the database. */
  readonly store: Database;
  readonly ring: KekRing;
  readonly ours: Tenant;
  readonly theirs: Tenant;
  /** Uses our management key by default. Every response is checked against the OpenAPI document. */
  call(call: ApiCall): Promise<ApiReply>;
  /** One more instance of the service, on another port. */
  another(): Promise<AsyncDisposable & Pick<ManagementWorld, 'call'>>;
}

export interface ManagementWorldOptions {
  /** Names without `MANAGEMENT_`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes how the service's queries run. */
  readonly wrap?: (kysely: Database['kysely']) => Database['kysely'];
  readonly config?: Partial<ManagementConfig>;
  readonly parts?: Partial<ManagementParts>;
}

export async function startManagementWorld(options: ManagementWorldOptions = {}): Promise<ManagementWorld> {
  await using stack = new AsyncDisposableStack();
  const [port, opsPort] = await Promise.all([freePort(), freePort()]);
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const issuer = stack.use(await startIssuer({ audience: baseUrl }));
  const { url, managementUrl } = stack.use(await createDatabase());
  const open = (url: string) =>
    stack.adopt(openPostgres({ url, poolMax: 5 }), (database) => database.close());
  const store = open(url);
  const ring = parseKekRing(generateKekRing('management'));
  const environment = {
    MANAGEMENT_PORT: String(port),
    MANAGEMENT_OPS_PORT: String(opsPort),
    MANAGEMENT_DATABASE_URL: managementUrl,
    MANAGEMENT_ISSUER: issuer.url,
    MANAGEMENT_AUDIENCE: baseUrl,
    MANAGEMENT_KEK_FILE: '/dev/null',
    MANAGEMENT_INTROSPECTION_CLIENT_ID: issuer.introspectionClient.id,
    MANAGEMENT_INTROSPECTION_CLIENT_SECRET: issuer.introspectionClient.secret,
    ...Object.fromEntries(
      Object.entries(options.environment ?? {}).map(([name, value]) => [`MANAGEMENT_${name}`, value]),
    ),
  };
  const database = open(managementUrl);
  const kysely = options.wrap?.(database.kysely) ?? database.kysely;
  const parts: Partial<ManagementParts> = {
    database: { ...database, kysely, transaction: (work) => kysely.transaction().execute(work) },
    ring,
    log: createLogger({ service: 'management', level: 'silent' }),
    ...options.parts,
  };
  // Beside the tests in one process, a late loop is not overload.
  const configOf = (env: Readonly<Record<string, string>>) => ({
    overloadDelayMs: 600_000,
    ...loadManagementConfig(env),
    ...options.config,
  });
  const service = await startManagement(configOf(environment), parts);
  stack.defer(() => service.stop());
  const http = stack.use(createHttpClient(baseUrl));
  const ours = await createTenant(store, issuer.url);
  const theirs = await createTenant(store, issuer.url);
  const owned = stack.move();
  return {
    baseUrl,
    opsUrl: service.opsUrl,
    issuer,
    store,
    ring,
    ours,
    theirs,
    call: callerOf(http, ours),
    async another() {
      await using more = new AsyncDisposableStack();
      const [port, opsPort] = await Promise.all([freePort(), freePort()]);
      const ports = { MANAGEMENT_PORT: String(port), MANAGEMENT_OPS_PORT: String(opsPort) };
      const config = configOf({ ...environment, ...ports, MANAGEMENT_BASE_URL: baseUrl });
      const instance = await startManagement(config, parts);
      more.defer(() => instance.stop());
      const call = callerOf(more.use(createHttpClient(`http://127.0.0.1:${port}/v1`)), ours);
      const kept = more.move();
      return { call, [Symbol.asyncDispose]: () => kept.disposeAsync() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A world for all tests of a file. */
export async function useManagementWorld(options?: ManagementWorldOptions): Promise<ManagementWorld> {
  const world = await startManagementWorld(options);
  afterAll(() => world[Symbol.asyncDispose]());
  return world;
}

/** Only intern operations have metadata with these statuses. */
export const envelope = (code: number) => ({ error: { code, message: expect.any(String) } });

function callerOf(http: HttpClient, ours: Tenant): ManagementWorld['call'] {
  return async ({ method = 'GET', path, bearer = ours.managementKey, ...call }) => {
    const target = `/v1${path}`;
    const reply = await http.ask({ method, path: target, ...(bearer !== null && { bearer }), ...call });
    requireDocumented({ ...reply, method, path: target }, 'management');
    const isJson = reply.headers['content-type'] === 'application/json' && method !== 'HEAD';
    return { ...reply, json: isJson ? JSON.parse(reply.text) : undefined };
  };
}

export async function createTenant(store: Database, issuer: string) {
  const { id: organizationId } = await createOrganization(store, { name: 'Analytical Engines' });
  const { id: workspaceId } = await createWorkspace(store, {
    organizationId,
    name: 'Workshop',
    inProgramme: true,
    isDefault: true,
  });
  const { id: userId } = await createUser(store, { name: 'Ada' });
  const subject = `ada-${userId}`;
  await addSubject(store, { userId, issuer, subject });
  await addMember(store, { workspaceId, userId });
  const { id: internId } = await createIntern(store, { workspaceId, name: 'charles' });
  const ordinary = await createApiKey(store, { kind: 'api', name: 'ordinary', workspaceId });
  const { key: internKey } = await createApiKey(store, { kind: 'api', name: 'own', workspaceId, internId });
  const management = await createApiKey(store, {
    kind: 'management',
    name: 'management',
    organizationId,
    createdBy: userId,
  });
  return {
    organizationId,
    workspaceId,
    userId,
    subject,
    internId,
    internKey,
    apiKey: ordinary.key,
    apiKeyHash: ordinary.hash,
    managementKey: management.key,
  };
}

/** An organization with a default workspace in the programme, a member, and a key of each kind. */
export type Tenant = Awaited<ReturnType<typeof createTenant>>;

/** Stores a credential as the operator's command does. */
export async function createTestCredential(
  store: Database,
  { organizationId, workspaceId }: Tenant,
  columns: Partial<Parameters<typeof createCredential>[1]> = {},
): Promise<string> {
  const id = randomUUID();
  await createCredential(store, {
    id,
    organization_id: organizationId,
    workspace_id: workspaceId,
    provider: 'openai',
    label: 'sk-...wxyz',
    sealed_key: 'never opened in this test',
    ...columns,
  });
  return id;
}
