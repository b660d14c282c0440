import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../env/certificate.ts';
import { NGINX } from '../../env/gateway.ts';
import { freePort } from '../../env/ports.ts';
import { findProgram, openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { FOLDER, valuesOf } from './unit.ts';

const run = promisify(execFile);
const SHIPPED = join(ROOT, 'deploy/gateway');
/** `nobody`, `nogroup`: logrotate takes no numbers. */
const USER = 65534;
const setpriv = findProgram('setpriv');
const logrotate = findProgram('logrotate', ['/usr/sbin']);
const canRun = NGINX && setpriv && logrotate && process.getuid?.() === 0;

test.skipIf(!canRun)('the unit’s nginx serves as an ordinary user, and its logs are rotated', async () => {
  await using room = await openRoom('ori-gateway-unit');
  const [conf, state] = [join(room.directory, 'conf'), join(room.directory, 'ori-gateway')];
  await chmod(room.directory, 0o755);
  await mkdir(join(conf, 'site'), { recursive: true });
  for (const name of await readdir(SHIPPED))
    if (name.endsWith('.conf')) await copyFile(join(SHIPPED, name), join(conf, name));
  for (const name of ['signers', 'management', 'limits', 'regional-hosts'])
    await copyFile(join(SHIPPED, `site.example/${name}.conf`), join(conf, `site/${name}.conf`));
  const { cert, key } = makeCertificate();
  const port = await freePort();
  const listen = `listen 127.0.0.1:${port};\nssl_certificate site/cert.pem;\nssl_certificate_key site/key.pem;\n`;
  for (const [name, text] of Object.entries({ 'listen.conf': listen, 'cert.pem': cert, 'key.pem': key }))
    await writeFile(join(conf, 'site', name), text);
  for (const folder of valuesOf('ori-gateway.service', 'StateDirectory')[0]?.split(' ') ?? []) {
    const place = join(room.directory, folder);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await chown(place, USER, USER);
  }

  const placed = (line = '') =>
    line.replace('%S', room.directory).replace('/etc/ori-gateway', conf).split(' ');
  const asUser = ['--reuid', String(USER), '--regid', String(USER), '--clear-groups', '--inh-caps=-all'];
  const [, ...words] = placed(valuesOf('ori-gateway.service', 'ExecStart')[0]);
  const child = spawn(setpriv as string, [...asUser, NGINX as string, ...words], { stdio: 'ignore' });
  room.admit(child, 'KILL');
  const ended = once(child, 'exit');
  const ask = () => fetch(`http://127.0.0.1:${port}/elsewhere`).then(({ status }) => status);
  await expect.poll(() => ask().catch(() => 0)).toBe(404);
  const [, ...check] = placed(valuesOf('ori-gateway.service', 'ExecReload')[0]);
  await run(setpriv as string, [...asUser, NGINX as string, ...check]);

  // systemctl in miniature: one signal to the one unit.
  await writeFile(
    join(room.directory, 'systemctl'),
    `#!/bin/sh\n[ "$*" = "kill --kill-whom=main --signal=USR1 ori-gateway.service" ] && kill -USR1 ${child.pid}\n`,
    { mode: 0o755 },
  );
  const rules = await readFile(join(FOLDER, 'ori-gateway.logrotate'), 'utf8');
  const file = join(room.directory, 'rules');
  await writeFile(
    file,
    rules.replace('/var/lib/ori-gateway', state).replace('ori-gateway ori-gateway', 'nobody nogroup'),
    { mode: 0o644 },
  );
  execFileSync(logrotate as string, ['--force', '--state', join(room.directory, 'rotated'), file], {
    env: { PATH: `${room.directory}:${process.env['PATH']}` },
  });
  const lines = async (name: string) =>
    (await readFile(join(state, 'logs', name), 'utf8')).split('\n').length - 1;
  const old = (await readdir(join(state, 'logs'))).find((name) => name.startsWith('access.log-'));
  await expect.poll(() => lines('access.log').catch(() => -1)).toBe(0);
  const before = await lines(old as string);
  expect(await ask()).toBe(404);
  await expect.poll(() => lines('access.log')).toBe(1);
  expect(await lines(old as string)).toBe(before);
  child.kill(valuesOf('ori-gateway.service', 'KillSignal')[0] as NodeJS.Signals);
  expect(await ended).toEqual([0, null]);
});
