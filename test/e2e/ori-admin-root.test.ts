import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken, findHsm, startKmsAgent } from '../env/kms.ts';
import { type OperatorWorld, startOperatorWorld, verified } from './ori-admin-world.ts';

const LONG = { timeout: 120_000 };

let world: OperatorWorld;
const internId = 'int_greeter';
let roles: Readonly<Record<string, string>>;
const file = (name: string) => join(world.room.directory, name);

beforeAll(async () => {
  world = await startOperatorWorld();
  const { admin } = world;
  await admin.get('migrate');
  await admin.get('kek', 'generate', 'signer', '--out', world.kekFile);
  const workshop = {
    name: 'Workshop',
    programme: true,
    members: [{ subject: 'ada', name: 'Ada' }],
    interns: [{ name: 'greeter', id: internId, signing_key: true }],
  };
  await admin.apply({ name: 'Analytical Engines', workspaces: [workshop] });
  roles = {
    ORI_ADMIN_KEYS_ROLE_FILE: file('keys.json'),
    SIGNER_FRESHNESS_KEY_FILE: file('freshness.json'),
    SIGNER_DELEGATIONS_FILE: file('delegations.jsonl'),
  };
}, 120_000);
afterAll(() => world?.[Symbol.asyncDispose]());

async function must(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { exit, stdout, stderr } = await world.admin.run(args, { environment });
  expect([exit, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}

async function generate(name: string, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  await writeFile(
    file(`${name}.pub`),
    await must(['root', 'generate', '--out', file(`${name}.json`)], environment),
  );
}

async function delegate(role: string, root: string, key: string, environment = {}): Promise<void> {
  const args = ['root', 'delegate', role, '--root', file(`${root}.json`), '--key', file(`${key}.pub`)];
  const { stdout, stderr } = await world.admin.run(args, { environment });
  const { nbf, exp } = JSON.parse(stdout);
  expect(exp - nbf).toBe(30 * 86_400);
  expect(stderr).toMatch(`It is in force from ${new Date(nbf * 1000).toISOString()} to `);
  await appendFile(file('delegations.jsonl'), stdout);
}

const startRootedSigner = () =>
  world.startSigner({
    SIGNER_FRESHNESS_KEY_FILE: file('freshness.json'),
    SIGNER_DELEGATIONS_FILE: file('delegations.jsonl'),
  });

/** Who a daemon that pins `root` sees behind a call. */
async function callerBy(root: string, intern = internId): Promise<unknown> {
  const proof = (await (await world.sign(intern)).json()) as Record<string, string>;
  const pinned = JSON.parse(await readFile(file(`${root}.pub`), 'utf8'));
  return await verified(world, intern, proof, pinned).catch((error) => error.code);
}

it(
  'introduces a root as the README has it, and replaces it for daemons of the former and the next one',
  LONG,
  async () => {
    for (const name of ['root', 'keys', 'freshness', 'stranger', 'next']) await generate(name);
    await delegate('keys', 'root', 'keys');
    await delegate('freshness', 'root', 'freshness');
    expect(JSON.parse(await must(['root', 'state', '--all', '--json'], roles))).toMatchObject({
      stated: 1,
      skipped: [],
    });
    await using signer = await startRootedSigner();
    expect(await callerBy('root')).toMatchObject({ user: 'ada' });
    expect(await callerBy('stranger')).toBe('keys_unavailable');
    await must(['signing-key', 'rotate', internId], roles);
    expect(await callerBy('root')).toMatchObject({ user: 'ada' });
    const interns = '[{ name: weaver, id: int_weaver, signing_key: true }]';
    const workspaces = `[{ name: Workshop, interns: ${interns} }]`;
    await writeFile(
      file('team.yaml'),
      `organizations: [{ name: Analytical Engines, workspaces: ${workspaces} }]`,
    );
    await must(['apply', '--file', file('team.yaml')], roles);
    expect(await callerBy('root', 'int_weaver')).toMatchObject({ user: 'ada' });

    await signer.stop();
    await writeFile(file('delegations.jsonl'), '');
    await delegate('root', 'root', 'next');
    await delegate('keys', 'next', 'keys');
    await delegate('freshness', 'next', 'freshness');
    await signer.start();
    expect(await callerBy('root')).toMatchObject({ user: 'ada' });
    expect(await callerBy('next')).toMatchObject({ user: 'ada' });
  },
);

it('replaces the role that states keys: the next one states what the former one stated', LONG, async () => {
  await generate('keys-2');
  const next = { ...roles, ORI_ADMIN_KEYS_ROLE_FILE: file('keys-2.json') };
  const others = await world.admin.run(['root', 'state'], { environment: next });
  expect(others).toMatchObject({ exit: 4, stderr: expect.stringContaining('--former') });
  await world.query('CREATE TEMPORARY TABLE dump AS SELECT * FROM signing_keys');
  const state = ['root', 'state', '--former', file('keys.pub'), '--json'];
  const stated = await must(state, next);
  await writeFile(file('delegations.jsonl'), '');
  await delegate('keys', 'next', 'keys-2');
  await delegate('freshness', 'next', 'freshness');
  await using signer = await startRootedSigner();
  expect(await callerBy('next')).toMatchObject({ user: 'ada' });

  // As deploy/database/README.md has it after a restore of what was before.
  await signer.stop();
  await world.query('DELETE FROM signing_keys');
  await world.query('INSERT INTO signing_keys SELECT * FROM dump');
  expect(await must(state, next)).toBe(stated);
  await signer.start();
  expect(await callerBy('next')).toMatchObject({ user: 'ada' });
});

const hsm = findHsm();
describe.skipIf(hsm === undefined)('with an HSM', () => {
  it(
    'keeps the private keys of the root and its roles wrapped, and needs the HSM to use them',
    LONG,
    async () => {
      const agent = await startKmsAgent((room) => (hsm ? createToken(hsm, room) : {}));
      await using _agent = agent;
      const kms = { ORI_ADMIN_ROOT_KMS_URL: agent.url };
      for (const name of ['hsm-root', 'hsm-keys']) await generate(name, kms);
      const text = await readFile(file('hsm-root.json'), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ wrapped: expect.any(String) });
      expect(text).not.toContain('"d"');
      await writeFile(file('delegations.jsonl'), '');
      await delegate('keys', 'hsm-root', 'hsm-keys', kms);
      await delegate('freshness', 'hsm-root', 'freshness', kms);
      const stating = { ...roles, ORI_ADMIN_KEYS_ROLE_FILE: file('hsm-keys.json') };
      await must(['root', 'state', '--former', file('keys-2.pub')], { ...stating, ...kms });
      await using _signer = await startRootedSigner();
      expect(await callerBy('hsm-root')).toMatchObject({ user: 'ada' });

      const without = await world.admin.run(['signing-key', 'add', internId], { environment: stating });
      expect(without).toMatchObject({ exit: 2, stderr: expect.stringContaining('KMS') });
      await agent.stop();
      const stopped = await world.admin.run(['signing-key', 'add', internId], {
        environment: { ...stating, ...kms },
      });
      expect(stopped).toMatchObject({ exit: 6, stderr: expect.stringContaining('KMS') });
    },
  );
});
