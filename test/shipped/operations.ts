import { copyFile, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createOriAdmin, type OriAdmin } from '../e2e/ori-admin-process.ts';
import type { PostgresServer } from '../env/postgres.ts';
import type { Service } from '../env/service.ts';
import type { ShippedWorld } from './world.ts';

export interface OperatedWorld extends ShippedWorld {
  readonly postgres: PostgresServer;
  readonly admin: OriAdmin;
  /** A folder for what the operators write. */
  readonly folder: string;
  /** The key of the issuer that is not used yet, and when it was published, by `performance.now()`. */
  published: { readonly kid: string; readonly at: number } | undefined;
  /** Makes the callers use tokens under this key of the issuer. */
  signIn(kid: string): Promise<void>;
}

export interface Operation {
  readonly name: string;
  /** Whether calls may fail meanwhile: there is nothing that could answer them. */
  readonly interrupts?: true;
  run(world: OperatedWorld): Promise<unknown>;
}

export function operatorOf({ databaseUrl, issuer, baseUrl }: ShippedWorld, ring: string): OriAdmin {
  return createOriAdmin({
    ORI_ADMIN_DATABASE_URL: databaseUrl,
    ORI_ADMIN_SIGNER_KEK_FILE: ring,
    ORI_ADMIN_ISSUER: issuer.url,
    ORI_ADMIN_BASE_URL: baseUrl,
  });
}

/** What operators do to a running deployment, as the documents say. */
export const OPERATIONS: readonly Operation[] = [
  { name: 'signers are restarted in turn', run: ({ signers }) => inTurn(signers, restart) },
  { name: 'the issuer publishes a key', run: publishIssuerKey },
  { name: 'the gateway is reloaded', run: ({ gateway }) => gateway.reload() },
  {
    name: 'a signing key is rotated',
    run: ({ admin, demo }) => admin.get('signing-key', 'rotate', demo.internId),
  },
  { name: 'the KEK is replaced', run: replaceKek },
  { name: 'audit files are rotated', run: ({ signers }) => inTurn(signers, rotateAudit) },
  { name: 'the issuer signs with the key', run: useIssuerKey },
  { name: 'the issuer is restarted', run: ({ issuer }) => issuer.stop().then(() => issuer.start()) },
  { name: 'the database is migrated', run: ({ admin }) => admin.get('migrate') },
  { name: 'people, interns and keys come and go', run: comeAndGo },
  {
    name: 'the operators’ audit is exported',
    run: ({ admin, folder }) => admin.get('audit', 'export', '--to', join(folder, 'admin-audit.jsonl')),
  },
  { name: 'PostgreSQL is restarted', interrupts: true, run: ({ postgres }) => postgres.restart() },
  { name: 'Redis is restarted', interrupts: true, run: ({ redis }) => redis.restart() },
];

async function inTurn(services: readonly Service[], act: (service: Service) => Promise<unknown>) {
  for (const service of services) await act(service);
}

async function restart(service: Service): Promise<void> {
  await service.stop();
  await service.start();
}

/** Renames the file and sends SIGHUP; the signer then writes to a new one. */
async function rotateAudit({ folder, pid }: Service): Promise<void> {
  const file = join(folder, 'audit.jsonl');
  await rename(file, `${file}.${Date.now()}`);
  process.kill(pid ?? Number.NaN, 'SIGHUP');
  while ((await stat(file).catch(() => undefined)) === undefined) await pause(20);
}

/** Longer than a service waits between two fetches of an issuer's keys. */
const PUBLISHED_FOR_MS = 5500;

/** An issuer publishes a key before it signs with it. */
async function publishIssuerKey(world: OperatedWorld): Promise<void> {
  world.published = { kid: await world.issuer.addKey('ES256', true), at: performance.now() };
}

async function useIssuerKey({ published, signIn }: OperatedWorld): Promise<void> {
  if (published === undefined) throw new Error('no key was published');
  await pause(published.at + PUBLISHED_FOR_MS - performance.now());
  await signIn(published.kid);
}

/** The four steps of `services/ori-admin/README.md`. */
async function replaceKek({ admin, signers, folder }: OperatedWorld): Promise<void> {
  const ring = join(folder, 'signer-kek.json');
  const next = join(folder, `ring-${Date.now()}.json`);
  const instances = ['--instances', signers.map(({ opsAddress }) => `http://${opsAddress}`).join(',')];
  const former = parseKekRing(await readFile(ring, 'utf8')).primary.kid;
  const step = async (...words: readonly string[]) => {
    const out = `${next}.${words[1]}`;
    await admin.get(...words, '--out', out);
    await put(out, ring);
    await inTurn(signers, (service) => install(out, service));
  };
  await step('kek', 'generate', 'signer', '--add-to', ring);
  const kid = parseKekRing(await readFile(ring, 'utf8')).kids[1] ?? '';
  await step('kek', 'promote', 'signer', kid, ...instances);
  await admin.get('kek', 'reseal', 'signer', ...instances);
  await step('kek', 'remove', 'signer', former, ...instances);
}

/** Replaces a file at once: a reader finds the former or the next. */
async function put(from: string, to: string): Promise<void> {
  await copyFile(from, `${to}.new`);
  await rename(`${to}.new`, to);
}

/** Replaces the ring of a running signer, and waits until it has read it. */
async function install(file: string, { folder, opsAddress }: Service): Promise<void> {
  await put(file, join(folder, 'kek-file'));
  const { kids } = parseKekRing(await readFile(file, 'utf8'));
  for (;;) {
    const page = await (await fetch(`http://${opsAddress}/metrics`)).text();
    const held = [...page.matchAll(/^ori_kek\{kid="([^"]+)",use="(seals|opens)"/gm)];
    const seals = held.filter(([, , use]) => use === 'seals').map(([, kid]) => kid);
    if (held.length === kids.length && seals[0] === kids[0]) return;
    await pause(50);
  }
}

async function comeAndGo({ admin, demo: { organizationId, workspaceId } }: OperatedWorld): Promise<void> {
  const name = `temporary ${Date.now()}`;
  const nameOf = async (noun: string, wanted: string) =>
    (await admin.json(noun, 'list')).data.find(({ id }: { id: string }) => id === wanted).name;
  const workspace = {
    name: await nameOf('workspace', workspaceId),
    members: [{ subject: name, name }],
    interns: [{ name, status: 'running', signing_key: true }],
  };
  await admin.apply({
    id: organizationId,
    name: await nameOf('org', organizationId),
    workspaces: [workspace],
  });
  const [user, intern] = [await admin.idOf('user', name), await admin.idOf('intern', name)];
  await admin.get('user', 'revoke-sessions', user, '--yes');
  await admin.get('member', 'remove', workspaceId, user);
  await admin.get('user', 'delete', user, '--yes');
  await admin.get('intern', 'delete', intern, '--yes');
}
