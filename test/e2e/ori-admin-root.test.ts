import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAnswerKeyReader } from '@ori/proof/answer-keys';
import { createAnswerKey, readAnswerProof, signAnswer, verifyAnswer } from '@ori/proof/answer-proof';
import { parseJwkSet } from '@ori/proof/read-jwk-set';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken, findHsm, startKmsAgent } from '../wings/kms/kms.ts';
import { type OperatorWorld, startOperatorWorld, verified } from './ori-admin-world.ts';

const README = new URL('../../services/ori-admin/README.md', import.meta.url);
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

/** The answer keys that a client believes which pins `root`. */
async function answerKeysBy(root: string): Promise<readonly string[]> {
  const roots = parseJwkSet({ keys: [JSON.parse(await readFile(file(`${root}.pub`), 'utf8'))] });
  const read = createAnswerKeyReader({ roots, baseUrl: world.baseUrl, internId });
  const answer = await fetch(`${world.baseUrl}/interns/${internId}/daemon/jwks.json`);
  const statement = answer.headers.get('x-ori-key-set');
  return read({ body: new Uint8Array(await answer.arrayBuffer()), statement, now: Date.now() }).keys;
}

it(
  'replaces the key that proves answers as the README has it, so that no answer is refused',
  LONG,
  async () => {
    await using _signer = await startRootedSigner();
    const lines = [...(await readFile(README, 'utf8')).matchAll(/^ {4}answer_keys: (\[.*\])/gm)];
    const [first, both, last, ...rest] = lines.map(([, list = '']) => JSON.parse(list) as string[]);
    expect(rest).toEqual([]);
    const x: Record<string, string> = {};
    const daemon = async (name: string) => createAnswerKey(await readFile(file(`${name}.key`), 'utf8'));
    for (const name of ['OLD', 'NEW'])
      x[name] = (await must(['answer-key', 'make', file(`${name}.key`)])).trim();
    const publish = async (names: readonly string[] = []) => {
      const interns = [{ name: 'greeter', answer_keys: names.map((name) => x[name]) }];
      const organizations = [{ name: 'Analytical Engines', workspaces: [{ name: 'Workshop', interns }] }];
      await writeFile(file('answering.yaml'), JSON.stringify({ organizations }));
      await must(['apply', '--file', file('answering.yaml')], roles);
      await expect.poll(async () => (await answerKeysBy('next')).length).toBe(names.length);
      return await answerKeysBy('next');
    };
    const answer = { call: '0'.repeat(64), status: 200, mediaType: '', body: Buffer.from('hello') };
    const isProven = async (name: string, known: readonly string[]) => {
      const { x: by = '', signature } = readAnswerProof(signAnswer(await daemon(name), answer)) ?? {};
      return known.includes(by) && signature !== undefined && verifyAnswer(by, answer, signature);
    };
    const sets = [await publish(first), await publish(both), await publish(last)];
    // The daemon has the one file during the first two, the other during the last two.
    expect(await Promise.all(sets.map((known) => isProven('OLD', known)))).toEqual([true, true, false]);
    expect(await Promise.all(sets.map((known) => isProven('NEW', known)))).toEqual([false, true, true]);
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
  expect(await answerKeysBy('next')).toHaveLength(1);

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
