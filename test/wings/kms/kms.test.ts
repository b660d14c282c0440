import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../env/ports.ts';
import { shipped } from '../../env/programs.ts';
import { openRoom, type Room } from '../../env/room.ts';
import { hostAsProcess } from '../../env/signer-host.ts';
import { startWorld, type World } from '../../env/world.ts';
import { signAt } from '../../hardening/signer-process.ts';
import { createToken, findHsm, MOTO, startKmsAgent, startMoto } from './kms.ts';
import { OPENBAO, startOpenBao } from './openbao.ts';

/** A KMS that can be made unavailable, and what reaches it. */
interface Kms extends AsyncDisposable {
  readonly url: string;
  /** Of the signer and of ori-admin. */
  readonly signer: Readonly<Record<string, string>>;
  readonly admin: Readonly<Record<string, string>>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const hsm = findHsm();

async function behindAgent(environment: (room: Room) => Promise<Record<string, string>>): Promise<Kms> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-kms-backend'));
  const values = await environment(room);
  const { url, stop, start } = stack.use(await startKmsAgent(() => values));
  const owned = stack.move();
  return { url, stop, start, signer: {}, admin: {}, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function openBao(): Promise<Kms> {
  const bao = await startOpenBao();
  const trust = { NODE_EXTRA_CA_CERTS: bao.certificate };
  return {
    url: bao.url,
    signer: { ...trust, SIGNER_KMS_TOKEN_FILE: bao.signerToken },
    admin: { ...trust, ORI_ADMIN_KMS_TOKEN_FILE: bao.adminToken },
    stop: () => bao.seal(),
    start: () => bao.unseal(),
    [Symbol.asyncDispose]: () => bao[Symbol.asyncDispose](),
  };
}

const backends = [
  { name: 'OpenBao', missing: OPENBAO === undefined && 'bao, or OPENBAO that names it', open: openBao },
  { name: 'moto for AWS KMS', missing: !MOTO && 'moto_server', open: () => behindAgent(startMoto) },
  {
    name: 'SoftHSM2',
    missing: !hsm && 'softhsm2-util and pkcs11-tool',
    open: () => behindAgent(async (room) => (hsm ? createToken(hsm, room) : {})),
  },
] as const;
for (const { name, missing } of backends) {
  if (missing) process.stderr.write(`KMS: without ${name}: there is no ${missing}\n`);
}
const found = backends.filter(({ missing }) => !missing);

async function admin(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
  const program = await shipped('admin/ori-admin');
  const { PATH } = process.env;
  const command = promisify(execFile)(process.execPath, [program, ...args], {
    env: { PATH, ...environment },
  });
  return (await command).stdout;
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

it.each(found)(
  'a hardened signer waits for $name at its start, and signs with the ring that it unwraps',
  async ({ open }) => {
    await using kms = await open();
    await using room = await openRoom('ori-kms-signer');
    const [plain, ring] = ['plain.json', 'ring.json'].map((name) => join(room.directory, name)) as [
      string,
      string,
    ];
    await writeFile(plain, world.kekText, { mode: 0o600 });
    const environment = { ...kms.admin, ORI_ADMIN_SIGNER_KMS_URL: kms.url };
    await admin(environment, 'kek', 'wrap', 'signer', plain, '--out', ring);
    expect(await admin(environment, 'kek', 'unwrap', 'signer', ring)).toBe(world.kekText);
    const secrets = JSON.parse(world.kekText).keys.map(({ k }: { k: string }) => k);
    for (const secret of secrets) expect(await readFile(ring, 'utf8')).not.toContain(secret);

    await using signer = await hostAsProcess(
      {
        ...world.environment,
        ...kms.signer,
        SIGNER_KMS_URL: kms.url,
        SIGNER_KEK_FILE: ring,
        SIGNER_PORT: String(await freePort()),
        SIGNER_OPS_PORT: String(await freePort()),
        SIGNER_AUDIT_FILE: join(room.directory, 'audit.jsonl'),
      },
      room,
    );
    const ready = () =>
      expect.poll(() => fetch(`${signer.opsUrl}/readyz`).then(({ status }) => status)).toBe(200);
    const sign = () => signAt(signer.url, world);
    await ready();
    expect(await sign()).toBe(200);
    await kms.stop();
    expect(await sign()).toBe(200);
    await signer.stop();
    const starting = signer.start();
    await expect.poll(() => signer.output.join('\n')).toContain('the KMS did not unwrap the KEK ring');
    await expect(fetch(signer.url)).rejects.toThrow('fetch failed');
    await kms.start();
    await starting;
    await ready();
    expect(await sign()).toBe(200);
    for (const secret of secrets) expect(signer.output.join('\n')).not.toContain(secret);
  },
);

it.skipIf(OPENBAO === undefined)(
  'OpenBao: the token of a service wraps nothing, a renewed KMS key wraps anew, and a revoked token opens nothing',
  async () => {
    await using bao = await startOpenBao();
    await using room = await openRoom('ori-kms-ring');
    const file = (name: string) => join(room.directory, name);
    await writeFile(file('plain.json'), generateKekRing('signer'), { mode: 0o600 });
    const trust = { NODE_EXTRA_CA_CERTS: bao.certificate, ORI_ADMIN_SIGNER_KMS_URL: bao.url };
    const as = (token: string) => ({ ...trust, ORI_ADMIN_KMS_TOKEN_FILE: token });
    const wrap = (token: string, from: string, to: string) =>
      admin(as(token), 'kek', 'wrap', 'signer', file(from), '--out', file(to));
    const unwrap = (token: string, from: string) => admin(as(token), 'kek', 'unwrap', 'signer', file(from));
    await expect(wrap(bao.signerToken, 'plain.json', 'refused.json')).rejects.toThrow('The KMS answered 403');
    await wrap(bao.adminToken, 'plain.json', 'first.json');
    expect(await readFile(file('first.json'), 'utf8')).toContain('vault:v1:');

    await bao.run('bao write -f transit/keys/ori-signer/rotate');
    await wrap(bao.adminToken, 'first.json', 'second.json');
    expect(await readFile(file('second.json'), 'utf8')).toContain('vault:v2:');
    await bao.run('bao write transit/keys/ori-signer/config min_decryption_version=2');
    await expect(unwrap(bao.signerToken, 'first.json')).rejects.toThrow('The KMS answered 400');
    const text = await readFile(file('plain.json'), 'utf8');
    expect(await unwrap(bao.signerToken, 'second.json')).toBe(text);

    await bao.run(`bao token revoke "$(cat ${bao.signerToken})"`);
    await expect(unwrap(bao.signerToken, 'second.json')).rejects.toThrow('The KMS answered 403');
  },
);
