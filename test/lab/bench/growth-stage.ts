import { randomBytes, randomUUID } from 'node:crypto';
import {
  addMember,
  addSigningKey,
  addSubject,
  createApiKey,
  createCredential,
  createIntern,
  createOrganization,
  createUser,
  createWorkspace,
  setIcon,
} from '@ori/store/admin';
import { parseKekRing } from '@ori/store/sealing';
import { sql } from 'kysely';
import { type Grown, grow, SMALL } from '../../env/grown.ts';
import { startManagement } from '../../env/management.ts';
import { startPostgres } from '../../env/postgres.ts';
import { startRedis } from '../../env/redis.ts';
import { startWorld, type World } from '../../env/world.ts';
import { pin } from './processes.ts';

/** An account with one resource of each kind to call, and its credentials. */
export type Account = Awaited<ReturnType<typeof openAccount>>;

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** An account of a hundred rows alone, the same beside one with many, and the one with many. */
export async function openGrowthStage(size: Grown) {
  await using stack = new AsyncDisposableStack();
  const servers = { redis: stack.use(await startRedis()), postgres: stack.use(await startPostgres()) };
  const open = async () => {
    const world = stack.use(await startWorld({ process: true, ...servers }));
    const room = { MANAGEMENT_GUARDRAIL_BYTES_PER_ACCOUNT_MAX: '1073741824' };
    const management = stack.use(await startManagement(world, room));
    for (const { pid } of [world.signer, management]) pin(pid, 'servers');
    return { world, managementPort: management.port };
  };
  const [small, big] = [await open(), await open()];
  const alone = await openAccount(small, 'alone', SMALL);
  const large = await openAccount(big, 'large', size);
  const beside = await openAccount(big, 'beside', SMALL);
  const owned = stack.move();
  return { alone, beside, large, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function openAccount(
  { world, managementPort }: { world: World; managementPort: number },
  name: string,
  size: Grown,
) {
  const { store, issuer, kekText, databaseUrl } = world;
  const { id: organizationId } = await createOrganization(store, { name });
  const place = { organizationId, name, isDefault: true, inProgramme: true };
  const { id: workspaceId } = await createWorkspace(store, place);
  const { id: userId } = await createUser(store, { name });
  await addSubject(store, { userId, issuer: issuer.url, subject: name });
  await addMember(store, { workspaceId, userId });
  const { id: internId } = await createIntern(store, { workspaceId, name });
  await setIcon(store, { internId, mediaType: 'image/png', bytes: PNG });
  await addSigningKey(store, { internId, seed: randomBytes(32), sealer: parseKekRing(kekText) });
  const credentialId = randomUUID();
  await createCredential(store, {
    id: credentialId,
    organization_id: organizationId,
    workspace_id: workspaceId,
    provider: 'openai',
    label: '...',
    sealed_key: 'sealed',
  });
  const { key: apiKey } = await createApiKey(store, { kind: 'api', name, workspaceId });
  const { key: managementKey } = await createApiKey(store, { kind: 'management', name, organizationId });
  await grow(databaseUrl, { organizationId, workspaceId }, size);
  const newest = async (column: string, table: string) => {
    const { rows } = await sql<{ value: string }>`
      select ${sql.ref(column)} as value from ${sql.table(table)}
      where organization_id = ${organizationId} order by created_at desc limit 20`.execute(store.kysely);
    return rows.map(({ value }) => value);
  };
  const [first = '', second = ''] = await newest('id', 'guardrails');
  return {
    world,
    managementPort,
    organizationId,
    workspaceId,
    internId,
    credentialId,
    apiKey,
    managementKey,
    /** The guardrail that every assignment of `grow` names, and another one. */
    guardrailIds: [first, second] as const,
    keyHashes: (await newest('key_hash', 'guardrail_key_assignments')).slice(0, 10),
    userIds: (await newest('user_id', 'guardrail_member_assignments')).slice(0, 10),
    accessToken: () => world.token({ subject: name }),
  };
}
