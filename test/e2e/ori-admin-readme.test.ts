import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { shipped } from '../env/programs.ts';
import { sharedRedisUrl } from '../env/redis.ts';
import { hostAsProcess } from '../env/signer-host.ts';
import { ORI } from './cli-process.ts';
import { startOperatorWorld } from './ori-admin-world.ts';

const ORI_ADMIN = await shipped('admin/ori-admin');
const README = new URL('../../services/ori-admin/README.md', import.meta.url);

/** The file of the README, and the ori-admin commands of the walkthrough, as a reader would paste them. */
async function walkthrough() {
  const text = await readFile(README, 'utf8');
  const sectionOf = (title: string) => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const steps = sectionOf('From an empty database to a signed proof');
  const lines = [...steps.matchAll(/^ {4}((?:\w+=\$\()?ori-admin .*)$/gm)].map(([, line = '']) => line);
  const [file = ''] = /^ {4}organizations:\n(?: {4}.*\n)+/m.exec(sectionOf('From a file')) ?? [];
  return { file: file.replaceAll(/^ {4}/gm, ''), lines };
}

it('the walkthrough of the README works', { timeout: 120_000 }, async () => {
  await using world = await startOperatorWorld();
  const { file, lines } = await walkthrough();
  expect(lines).toHaveLength(6);
  await writeFile(join(world.room.directory, 'team.yaml'), file);
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
  expect(intern).toMatchObject({ id: 'int_charles', name: 'charles', status: 'running' });
  expect(credential).toMatchObject({ name: 'production', label: 'sk-...mnop' });
  expect(member).toMatchObject({ user_name: 'Ada', removed_at: null });
  expect(keys).toHaveLength(2);
  expect((await admin.json('signing-key', 'list')).data).toMatchObject([{ intern_id: intern.id }]);
});

it('the six lines of the README and its nine variables lead to a proof', { timeout: 120_000 }, async () => {
  await using world = await startOperatorWorld();
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## Your people\n');
  const [ours = ''] = section.split('\n## ');
  const [, yaml = '', lines = ''] = /```yaml\n(.*?)```.*?```sh\n(.*?)```/s.exec(ours) ?? [];
  const [generate, migrate, apply, serve, login = '', sign, ...rest] = lines.trimEnd().split('\n');
  expect([serve, rest]).toEqual(['ori-signer &', []]);
  const [, named = ''] = /`SIGNER_BASE_URL` \| `(.*?)`/.exec(ours) ?? [];
  expect(login).toContain(`ori login --base-url ${named} `);
  // The demo, which README starts first and leaves running, has these three; the signer takes another, and a thousand above.
  expect(['8080', '8081', '8082']).not.toContain(new URL(named).port);
  const rows = [...ours.matchAll(/^\| (`[A-Z].*?) \|/gm)].map(([, names = '']) => names);
  const nine = rows.flatMap((names) => [...names.matchAll(/\w+/g)].map(([name]) => name));
  expect(nine).toHaveLength(9);
  const { directory } = world.room;
  await writeFile(join(directory, 'team.yaml'), yaml);
  const run = async (
    commands: readonly (string | undefined)[],
    environment: Readonly<Record<string, string>>,
  ) => {
    const programs = ['ori-admin() { "$NODE" "$ORI_ADMIN" "$@"; }', 'ori() { "$NODE" "$ORI" "$@"; }'];
    const { stdout } = await promisify(execFile)('bash', ['-euc', [...programs, ...commands].join('\n')], {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        NODE: process.execPath,
        ORI_ADMIN,
        ORI,
        HOME: directory,
        ...environment,
      },
    });
    return stdout;
  };
  const only = (environment: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(environment).filter(([name]) => nine.includes(name)));
  await run([generate, migrate, apply], only(world.environment));
  const { baseUrl, kekFile, issuer } = world;
  const signing = only({
    SIGNER_DATABASE_URL: await world.createLogin('ori_signer'),
    SIGNER_REDIS_URL: sharedRedisUrl(),
    SIGNER_ISSUER: issuer.url,
    SIGNER_BASE_URL: baseUrl,
    SIGNER_KEK_FILE: kekFile,
    SIGNER_AUDIT_FILE: join(directory, 'audit.jsonl'),
  });
  await using signer = await hostAsProcess(signing, world.room);
  expect(`${signer.url}/v1`).toBe(baseUrl);
  expect(
    await world.admin.run(['doctor'], { environment: { ...signing, ORI_ADMIN_MANAGEMENT_KEK_FILE: '' } }),
  ).toMatchObject({ exit: 0 });
  // Instead of ori login, which needs a person.
  const session = { ORI_BASE_URL: baseUrl, ORI_TOKEN: await issuer.token({ subject: 'auth0|5f7c' }) };
  expect(await run([sign], session)).toMatch(/^x-ori-invoke-signature-v2: /m);
});
