import { execFile, spawnSync } from 'node:child_process';
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeBrowser } from '../../e2e/readme-session.ts';
import { shippedFolder } from '../../env/programs.ts';
import { findProgram, openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';

const needed = ['redis-server', 'nginx', 'openssl', 'psql', 'setpriv', 'unshare', 'systemd-sysusers', 'ip'];
const APART = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const isPossible =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  needed.every((name) => findProgram(name, ['/usr/sbin']) !== undefined) &&
  spawnSync('unshare', [...APART, 'sh', '-c', 'test -f /etc/redis/redis.conf']).status === 0;

/** A machine of its own: its folders are copies, its network has only itself, and all of it ends with this script. */
const MACHINE = `set -eu
room=$1
mkdir "$room/layers" && mount -t tmpfs layers "$room/layers"
for folder in etc opt usr var; do
  mkdir "$room/layers/$folder" "$room/layers/$folder-work"
  mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$room/layers/$folder,workdir=$room/layers/$folder-work" "/$folder"
done
mount -t tmpfs run /run
ip link set lo up
for name in apt-get npm; do printf '#!/bin/sh\\n' > "/usr/local/bin/$name"; chmod 0755 "/usr/local/bin/$name"; done
install -m 0755 systemctl.sh /usr/local/bin/systemctl
export PATH=/usr/local/sbin:/usr/local/bin:$PATH

# Debian's packages have made and started these.
as() { user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
install -d -o postgres /run/postgresql /var/cluster
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
as postgres "$bin/initdb" --pgdata=/var/cluster --auth-local=peer --auth-host=scram-sha-256 --no-locale --encoding=UTF8 > /dev/null
as postgres "$bin/pg_ctl" --pgdata=/var/cluster --log=/var/cluster/log --wait start > /dev/null
"$NODE" issuer.ts > issuer.log 2>&1 &
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \\
  -addext subjectAltName=DNS:localhost -keyout key.pem -out fullchain.pem 2> /dev/null
`;

const ISSUER = `import { startOpenIdProvider } from '${ROOT}services/standalone/src/openid-provider.ts';
await startOpenIdProvider({
  users: [{ name: 'ada', subject: 'auth0|5f7c' }],
  port: 4000,
  resource: 'https://localhost/v1',
  signerClientSecret: 'unused',
});
`;

test.skipIf(!isPossible)('the page leads from nothing to a proof', { timeout: 120_000 }, async () => {
  await using room = await openRoom('ori-from-nothing');
  const folder = room.directory;
  const at = (name: string) => join(folder, name);
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const page = await readFile(join(ROOT, 'deploy/systemd/README.md'), 'utf8');
  const [, section = ''] = page.split('\n## From nothing to the first proof\n');
  const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n(.*?)```/gs)].map(
    ([, block = '']) => block,
  );
  expect(blocks).toHaveLength(2);
  const [machine = '', person = ''] = blocks;
  const yours = 'issuer=https://login.example.com host=api.example.com\n';
  expect(machine).toContain(yours);

  for (const name of ['deploy', 'node_modules']) await symlink(join(ROOT, name), at(name));
  await symlink(await shippedFolder(), at('dist'));
  await copyFile(join(ROOT, 'test/deploy/systemd/systemctl.sh'), at('systemctl.sh'));
  await writeFile(at('team.yaml'), /```yaml\n(.*?)```/s.exec(readme)?.[1] ?? '');
  await writeFile(at('issuer.ts'), ISSUER);
  const script = [
    MACHINE,
    machine.replace(yours, 'issuer=http://127.0.0.1:4000 host=localhost\n'),
    'curl --silent --fail --insecure --retry 100 --retry-delay 1 --retry-all-errors -o answer https://localhost/v1/openapi.json ||',
    ' { tail -n 5 /var/log/ori-* >&2; exit 1; }\n',
    'export NODE_EXTRA_CA_CERTS=$PWD/fullchain.pem\n',
    person.replaceAll('api.example.com', 'localhost'),
  ].join('');
  const env = {
    PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
    HOME: folder,
    NODE: process.execPath,
    BROWSER: await makeBrowser(folder),
    ORI_SESSION_STORE: 'file',
  };
  const options = { cwd: folder, env, timeout: 100_000, killSignal: 'SIGKILL' } as const;
  const { stdout, stderr } = await promisify(execFile)(
    'unshare',
    [...APART, 'bash', '-euc', script, 'bash', folder],
    options,
  );
  expect(stderr).not.toContain('FAIL');
  expect(stdout).toMatch(/^x-ori-invoke-user: auth0\|5f7c$/m);
});
