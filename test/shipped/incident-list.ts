import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rotateSigningKey } from '@ori/administration/signing-keys';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { type RawBuilder, sql } from 'kysely';
import { shipped } from '../env/programs.ts';
import { setFileSizeMax } from '../env/service.ts';
import type { Stack } from './stack.ts';

export interface Incident {
  readonly name: string;
  /** Any of these may be the first. */
  readonly alerts: readonly string[];
  /** Fires too. */
  readonly also?: string;
  /** Whether callers notice nothing. */
  readonly isHidden?: boolean;
  /** Default: signings with a JWT. `opaque`: with a token for which the issuer is called. A number: calls of that daemon. */
  readonly calls?: 'opaque' | 0 | 1;
  /** Part of what a failed call got. */
  readonly refusal?: string;
  /** A query that must have an answer before it begins. */
  readonly after?: string;
  begin(world: Stack): Promise<void>;
  end(world: Stack): Promise<void>;
}

/** Stops some parts, and starts them again. */
const without = (
  parts: (world: Stack) => readonly { stop(): Promise<void>; start(): Promise<void> }[],
): Pick<Incident, 'begin' | 'end'> => ({
  begin: async (world) => void (await Promise.all(parts(world).map((part) => part.stop()))),
  end: async (world) => void (await Promise.all(parts(world).map((part) => part.start()))),
});
const toGateway = (signal: NodeJS.Signals) => async (world: Stack) => {
  for (const pid of world.gateway.pids()) process.kill(pid, signal);
};
const changeKey =
  (change: RawBuilder<unknown>) =>
  async ({ store, demo }: Stack) =>
    void (await sql`update signing_keys set ${change} where intern_id = ${demo.internId}`.execute(
      store.kysely,
    ));
/** Corrupts the sealed seed, or restores it. */
const reverseSeed = changeKey(sql`sealed_seed = reverse(sealed_seed)`);
const endKey = (seconds: number | null) =>
  changeKey(sql`expires_at = extract(epoch from now())::int8 + ${seconds}`);
/** Limits how many connections the signers may have to PostgreSQL (-1: no limit), and closes the open ones. */
const allowConnections =
  (limit: number) =>
  async ({ store: { kysely } }: Stack) => {
    const role = sql`current_database() || '_signer'`;
    const alter = sql<{
      statement: string;
    }>`select format('alter role %I connection limit %s', ${role}, ${limit}::int) as statement`;
    const { rows } = await alter.execute(kysely);
    await sql.raw(rows[0]?.statement ?? '').execute(kysely);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`.execute(kysely);
  };
/** Runs an operator's command, as the alerts' sections name them. */
async function oriAdmin({ databaseUrl }: Stack, ...words: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'], ORI_ADMIN_DATABASE_URL: databaseUrl };
  await promisify(execFile)(process.execPath, [await shipped('admin/ori-admin'), ...words], { env });
}
const rotate = ({ store, kekText, demo: { internId } }: Stack) =>
  rotateSigningKey(store, {
    internId,
    sealer: parseKekRing(kekText),
    notBefore: Math.floor(Date.now() / 1000),
  });

/** Ordered so that few must wait until an alert of the previous one has resolved. */
export const INCIDENTS: readonly Incident[] = [
  {
    name: 'the issuer is down, for opaque tokens',
    alerts: ['OriRequestsFailing'],
    calls: 'opaque',
    ...without(({ issuer }) => [issuer]),
  },
  {
    name: 'the gateway stands still',
    alerts: ['OriGatewayDown'],
    begin: toGateway('SIGSTOP'),
    end: toGateway('SIGCONT'),
  },
  {
    name: 'Redis is down',
    alerts: ['OriDependencyDown'],
    also: 'OriCanaryFailing',
    ...without(({ redis }) => [redis]),
  },
  {
    name: 'one signer is down',
    alerts: ['OriTargetDown'],
    isHidden: true,
    ...without(({ signers }) => [signers[0]]),
  },
  {
    name: 'management is down',
    alerts: ['OriServiceDown', 'OriGatewayDown'],
    isHidden: true,
    ...without(({ management }) => [management]),
  },
  {
    name: 'the audit disk of one signer is full',
    alerts: ['OriAuditFailing'],
    begin: async ({ signers }) => setFileSizeMax(signers[0], 1),
    end: async ({ signers }) => setFileSizeMax(signers[0], 'unlimited'),
  },
  {
    name: 'PostgreSQL has no connection left for signers',
    alerts: ['OriDependencyDown'],
    refusal: '500',
    begin: allowConnections(0),
    end: allowConnections(-1),
  },
  {
    name: 'the certificate of the gateway expires within two days',
    alerts: ['OriCertificateEnds'],
    // Callers notice only the reload, which closes idle connections.
    async begin({ gateway, oldCertificate: { cert, key } }) {
      const site = join(gateway.folder, 'conf/site');
      await cp(site, `${site}.good`, { recursive: true });
      await Promise.all([writeFile(join(site, 'cert.pem'), cert), writeFile(join(site, 'key.pem'), key)]);
      await gateway.reload();
    },
    async end({ gateway }) {
      const site = join(gateway.folder, 'conf/site');
      await cp(`${site}.good`, site, { recursive: true });
      await gateway.reload();
    },
  },
  {
    name: 'the last signing key of an intern expires within a day',
    alerts: ['OriSigningKeyEndsToday'],
    isHidden: true,
    begin: endKey(12 * 3600),
    end: endKey(null),
  },
  {
    name: 'a workspace is taken out of the programme',
    alerts: ['OriProofsStopped'],
    refusal: '404',
    after: 'sum(rate(signer_proofs_issued_total[1m] offset 10s)) > 1',
    begin: (world) => oriAdmin(world, 'programme', 'remove', world.demo.workspaceId),
    end: (world) => oriAdmin(world, 'programme', 'add', world.demo.workspaceId),
  },
  {
    name: 'the lifecycle switch is off',
    alerts: ['OriLifecycleOff'],
    refusal: '404',
    begin: (world) => oriAdmin(world, 'lifecycle', 'off'),
    end: (world) => oriAdmin(world, 'lifecycle', 'on'),
  },
  {
    name: 'a daemon restarts and cannot fetch its keys',
    alerts: ['OriKeysNotAccepted'],
    calls: 0,
    refusal: 'keys_unavailable',
    async begin({ toKeySet, daemons }) {
      toKeySet.set('shut');
      await daemons[0].restart();
    },
    end: async ({ toKeySet }) => toKeySet.set('open'),
  },
  {
    name: 'a key is rotated, and a daemon has only a copy of the former ones',
    alerts: ['OriProofsAltered'],
    calls: 1,
    refusal: 'signature_invalid',
    begin: async (world) => void (await rotate(world)),
    end: ({ daemons }) => daemons[1].restart(),
  },
  {
    name: 'no KEK opens a signing key',
    alerts: ['OriSigningKeyUnusable'],
    begin: reverseSeed,
    end: reverseSeed,
  },
];
