import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startOpenIdProvider } from '../../services/standalone/src/openid-provider.ts';
import { shipped } from '../env/programs.ts';
import { sharedRedisUrl } from '../env/redis.ts';
import { ServerProcess } from '../env/server-process.ts';
import { ORI } from './cli-process.ts';
import { startOperatorWorld } from './ori-admin-world.ts';
import { makeBrowser } from './readme-session.ts';
import { makeStandaloneHome } from './standalone-process.ts';
import { freePortWithNeighbours } from './three-ports.ts';

const ORI_ADMIN = await shipped('admin/ori-admin');
const README = new URL('../../services/ori-admin/README.md', import.meta.url);

it('the file of ori-admin’s README and the commands around it work', { timeout: 120_000 }, async () => {
  await using world = await startOperatorWorld();
  const [, section = ''] = (await readFile(README, 'utf8')).split('\n## From a file\n');
  const [file = ''] = /^ {4}organizations:\n(?: {4}.*\n)+/m.exec(section) ?? [];
  const [, apply = ''] = /`(ori-admin apply -f [^`]*)`/.exec(section) ?? [];
  const lines = [...section.matchAll(/^ {4}((?:ws=\$\(ori-admin|ori-admin byok) .*)$/gm)].map(
    ([, line = '']) => line,
  );
  expect(lines).toHaveLength(2);
  await writeFile(join(world.room.directory, 'team.yaml'), file.replaceAll(/^ {4}/gm, ''));
  await writeFile(join(world.room.directory, 'openai.key'), 'sk-proj-0123456789abcdefghijklmnop\n');
  for (const [service, out] of Object.entries({ signer: world.kekFile, management: world.managementKekFile }))
    await world.admin.run(['kek', 'generate', service, '--out', out]);
  await world.admin.run(['migrate']);
  const script = ['set -eu', 'ori-admin() { "$NODE" "$ORI_ADMIN" "$@"; }', apply, ...lines].join('\n');
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

it('README’s six lines and nine variables lead to a proof, while its demo runs', {
  timeout: 120_000,
}, async () => {
  await using world = await startOperatorWorld();
  const { directory } = world.room;
  const firstPort = await freePortWithNeighbours();
  await using demo = await makeStandaloneHome();
  await using _running = await demo.start({ ORI_PORT: String(firstPort) });
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## Your people\n');
  const [ours = ''] = section.split('\n## ');
  const [, yaml = '', block = ''] = /```yaml\n(.*?)```.*?```sh\n(.*?)```/s.exec(ours) ?? [];
  const [, named = ''] = /`SIGNER_BASE_URL` \| `(.*?)`/.exec(ours) ?? [];
  // As far from the demo, which has 8080 to 8082 there.
  const baseUrl = `http://127.0.0.1:${firstPort + Number(new URL(named).port) - 8080}/v1`;
  const [generate, migrate, apply, serve, ...person] = block.trimEnd().replaceAll(named, baseUrl).split('\n');
  expect([serve, person.length]).toEqual(['ori-signer &', 2]);
  const rows = [...ours.matchAll(/^\| (`[A-Z].*?) \|/gm)].map(([, names = '']) => names);
  const nine = rows.flatMap((names) => [...names.matchAll(/\w+/g)].map(([name]) => name));
  expect(nine).toHaveLength(9);
  await writeFile(join(directory, 'team.yaml'), yaml);
  await using provider = await startOpenIdProvider({
    users: [{ name: 'ada', subject: 'auth0|5f7c' }],
    resource: baseUrl,
    signerClientSecret: 'unused',
  });
  const programs = { 'ori-admin': ORI_ADMIN, 'ori-signer': await shipped('signer/ori-signer'), ori: ORI };
  for (const [name, program] of Object.entries(programs))
    await writeFile(join(directory, name), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
      mode: 0o755,
    });
  const env: Record<string, string> = {
    ...Object.fromEntries(Object.entries(world.environment).filter(([name]) => nine.includes(name))),
    ORI_ADMIN_ISSUER: provider.issuer,
    SIGNER_ISSUER: provider.issuer,
    SIGNER_REDIS_URL: sharedRedisUrl(),
    SIGNER_BASE_URL: baseUrl,
    SIGNER_KEK_FILE: world.kekFile,
    SIGNER_AUDIT_FILE: join(directory, 'audit.jsonl'),
    PATH: `${directory}:${process.env['PATH']}`,
    HOME: directory,
    BROWSER: await makeBrowser(directory),
    ORI_SESSION_STORE: 'file',
  };
  const run = async (...commands: readonly (string | undefined)[]) =>
    (await promisify(execFile)('bash', ['-euc', commands.join('\n')], { cwd: directory, env })).stdout;
  await run(generate, migrate, apply);
  env['SIGNER_DATABASE_URL'] = await world.createLogin('ori_signer');
  expect(Object.keys(env)).toEqual(expect.arrayContaining(nine));
  const signer = new ServerProcess({
    room: world.room,
    program: 'bash',
    arguments: ['-euc', `${serve}\nwait`],
    environment: env,
    ready: /"msg":"listening"/,
    farewell: 'TERM',
  });
  await signer.start();
  try {
    expect(await run(...person)).toMatch(/^x-ori-invoke-signature-v2: /m);
    expect(await run('ori-admin doctor')).not.toContain('FAIL');
  } finally {
    await signer.killFamily();
  }
});
