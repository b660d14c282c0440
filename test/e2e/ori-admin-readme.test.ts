import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ORI } from './cli-process.ts';
import { startOperatorWorld } from './ori-admin-world.ts';

const ORI_ADMIN = new URL('../../services/ori-admin/bin/ori-admin.js', import.meta.url).pathname;
const README = new URL('../../services/ori-admin/README.md', import.meta.url);

/** The ori-admin commands of the walkthrough, as a reader would paste them. */
async function walkthrough(): Promise<string[]> {
  const text = await readFile(README, 'utf8');
  const [, section = ''] = text.split('## From an empty database to a signed proof');
  const [steps = ''] = section.split('\n## ');
  return [...steps.matchAll(/^ {4}((?:\w+=\$\()?ori-admin .*)$/gm)].map(([, line = '']) => line);
}

it('the walkthrough of the README works', { timeout: 120_000 }, async () => {
  await using world = await startOperatorWorld();
  const lines = await walkthrough();
  expect(lines.length).toBeGreaterThanOrEqual(11);
  await writeFile(join(world.room.directory, 'openai.key'), 'sk-proj-0123456789abcdefghijklmnop\n');
  const script = ['set -eu', 'ori-admin() { "$NODE" "$ORI_ADMIN" "$@"; }', ...lines].join('\n');
  await promisify(execFile)('bash', ['-c', script], {
    cwd: world.room.directory,
    env: { ...world.environment, PATH: process.env['PATH'], NODE: process.execPath, ORI_ADMIN },
  });
  const { admin } = world;
  const [[intern], [credential], [member], keys] = await Promise.all(
    ['intern', 'byok', 'member', 'key'].map(async (noun) => (await admin.json(noun, 'list')).data),
  );
  expect(intern).toMatchObject({ name: 'charles', status: 'running' });
  expect(credential).toMatchObject({ name: 'production', label: 'sk-...mnop' });
  expect(member).toMatchObject({ user_name: 'Ada', removed_at: null });
  expect(keys).toHaveLength(2);
  expect((await admin.json('signing-key', 'list')).data).toMatchObject([{ intern_id: intern.id }]);
});

it('the five lines of the README lead from an empty database to a proof', { timeout: 120_000 }, async () => {
  await using world = await startOperatorWorld();
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## Your own people and interns\n');
  const [, yaml = '', lines = ''] = /```yaml\n(.*?)```.*?```sh\n(.*?)```/s.exec(section) ?? [];
  const [generate, migrate, apply, serve, sign, ...rest] = lines.trimEnd().split('\n');
  expect([serve, rest]).toEqual(['ori-signer &', []]);
  const { directory } = world.room;
  await writeFile(join(directory, 'team.yaml'), yaml);
  const run = async (commands: readonly (string | undefined)[]) => {
    const programs = ['ori-admin() { "$NODE" "$ORI_ADMIN" "$@"; }', 'ori() { "$NODE" "$ORI" "$@"; }'];
    const token = await world.issuer.token({ subject: 'auth0|5f7c' });
    const { stdout } = await promisify(execFile)('bash', ['-euc', [...programs, ...commands].join('\n')], {
      cwd: directory,
      env: {
        ...world.environment,
        PATH: process.env['PATH'],
        NODE: process.execPath,
        ORI_ADMIN,
        ORI,
        HOME: directory,
        ORI_BASE_URL: world.baseUrl,
        ORI_TOKEN: token,
      },
    });
    return stdout;
  };
  await run([generate, migrate, apply]);
  await using _signer = await world.startSigner();
  expect(await run([sign])).toMatch(/^x-ori-invoke-signature-v2: /m);
});
