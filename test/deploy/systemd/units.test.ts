import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LOG_SPEC } from '@ori/log/config';
import { afterAll, describe, expect, test } from 'vitest';
import { findProgram, openRoom } from '../../env/room.ts';
import { expectAccepted, writeSecrets } from '../check-config.ts';
import { execForm, lastOf } from '../image/dockerfile.ts';
import { ROOT } from '../root.ts';
import { environmentOf, FOLDER, readEnvironmentFile, readUnit, UNITS, valuesOf } from './unit.ts';

const analyze = findProgram('systemd-analyze');
if (!analyze)
  console.log(
    'Not run: the tests with systemd-analyze, which is not installed. `npm run setup` installs it.',
  );
const room = await openRoom('ori-units');
afterAll(() => room[Symbol.asyncDispose]());
const folder = room.directory;

/** Of 100. The rest is needed by any network service, and by V8; the gateway may also listen below 1024. */
const exposureMax = (name: string) => (name === 'ori-gateway.service' ? 14 : 12);
/** The commands of the ori-admin units. */
const COMMANDS: Readonly<Record<string, string>> = {
  'ori-migrate.service': 'migrate',
  'ori-rotate-keys.service': 'signing-key rotate --due',
  'ori-audit-export.service': 'audit export --to %S/ori-audit/admin.jsonl',
};
const SERVICES = ['signer', 'management'] as const;
const OF_NGINX = ['CapabilityBoundingSet', 'AmbientCapabilities', 'PrivateUsers', 'MemoryDenyWriteExecute'];

describe.skipIf(!analyze).each(UNITS)('systemd-analyze on %s', (name) => {
  const say = async (...words: string[]) => {
    const file = join(folder, name.replace('@', '@1'));
    // systemd-analyze requires the program to exist, so the checkout replaces /opt/ori.
    const text = await readFile(join(FOLDER, name), 'utf8');
    await mkdir(join(folder, 'ori/bin'), { recursive: true });
    await symlink(join(process.execPath, '../..'), join(folder, 'ori/node')).catch(() => {});
    await symlink(process.execPath, join(folder, 'ori/bin/ori')).catch(() => {});
    await writeFile(file, text.replaceAll('/opt/ori/', `${folder}/ori/`));
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile(analyze as string, [...words, file], (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
      );
    });
  };

  test('finds nothing wrong', async () => {
    expect(await say('verify', '--man=no', '--recursive-errors=no')).toEqual({ code: 0, output: '' });
  });

  test(`rates the exposure at most ${exposureMax(name) / 10}`, async () => {
    const { code, output } = await say('security', '--offline=yes', `--threshold=${exposureMax(name)}`);
    expect(code, output).toBe(0);
  });
});

describe.each(UNITS)('%s', (name) => {
  test.skipIf(name === 'ori-canary.service')('starts the same entry as the image', () => {
    const command = COMMANDS[name];
    const target = command === undefined ? name.replace(/^ori-|@?\.service$/g, '') : 'admin';
    // The KMS agent has no image.
    const entry = lastOf(target, 'ENTRYPOINT') || lastOf('log', 'ENTRYPOINT').replaceAll('log', target);
    const words = [...execForm(entry), ...(command === undefined ? [] : [command])].join(' ');
    expect(valuesOf(name, 'ExecStart')).toEqual([
      words
        .replace('/usr/local/bin/node /app/', '/opt/ori/node/bin/node /opt/ori/')
        .replace('/srv/gateway/', '%S/ori-gateway/')
        .replace('/etc/ori/gateway/', '/etc/ori-gateway/'),
    ]);
  });

  test('has a credential for each secret and no secret in its environment', () => {
    const loaded = valuesOf(name, 'LoadCredential').map((line) => line.split(':') as [string, string]);
    const read = valuesOf(name, 'Environment').filter((line) => line.includes('=%d/'));
    expect(read.map((line) => line.split('=%d/')[1]).toSorted()).toEqual(loaded.map(([id]) => id).toSorted());
    for (const [, file] of loaded) expect(file).toMatch(/^\/etc\/ori\/secrets\/[\w.%-]+$/);
    const named = [...valuesOf(name, 'Environment'), ...valuesOf(name, 'EnvironmentFile').flatMap(lines)];
    for (const line of named) {
      if (/(DATABASE_URL|REDIS_URL|PASSWORD|SECRET|KEK|PIN|_TOKEN(?<!PKCS11_TOKEN))\w*=/.test(line))
        expect(line).toMatch(/_FILE=%d\//);
    }
  });

  test('is confined like the others and writes no core dumps', () => {
    const held = (unit: string) =>
      readUnit(unit).slice(readUnit(unit).findIndex(([key]) => key === 'LimitCORE'));
    const own = ['WantedBy', 'LimitNOFILE', ...(name === 'ori-gateway.service' ? OF_NGINX : [])];
    const [, ...rest] = held(name).filter(([key]) => !own.includes(key));
    const [, ...signer] = held('ori-signer@.service').filter(([key]) => !own.includes(key));
    expect(valuesOf(name, 'LimitCORE')).toEqual(['0']);
    expect(valuesOf(name, 'LimitNOFILE')).toEqual([name.startsWith('ori-guard') ? '32768' : '16384']);
    expect(rest).toEqual(signer);
  });
});

test.each(UNITS.filter((name) => valuesOf(name, 'Restart').length > 0))(
  '%s is restarted until it works, however long what it needs is missing at boot',
  (name) => {
    expect(valuesOf(name, 'StartLimitIntervalSec')).toEqual(['0']);
  },
);

describe.each(SERVICES)('%s', (service) => {
  const unit = `ori-${service}@.service`;

  test('has the same settings in both instances, except for the ports', () => {
    const [one, other] = ['1', '2'].map((i) => readEnvironmentFile(`${service}@${i}.env`));
    expect(Object.keys(one ?? {})).toEqual(Object.keys(other ?? {}));
    for (const name of Object.keys(one ?? {})) expect(name).toMatch(/_PORT$/);
  });

  test('is not restarted with an invalid configuration, and has time to stop', () => {
    expect(valuesOf(unit, 'Restart')).toEqual(['always']);
    expect(valuesOf(unit, 'RestartPreventExitStatus')).toEqual(['2 64']);
    expect(Number(valuesOf(unit, 'TimeoutStopSec')[0])).toBeGreaterThanOrEqual(10 + 2 + 5);
  });
});

test.each([
  ['signer', 'ori-signer@.service', '1'],
  ['management', 'ori-management@.service', '1'],
  ['guard', 'ori-guard@.service', '1'],
  ['log', 'ori-log.service', ''],
  ['kms-agent', 'ori-kms-agent@.service', 'signer'],
])('%s accepts its environment', async (service, unit, i) => {
  const d = join(folder, `credentials-${service}`);
  await writeSecrets(d, service, 0o400);
  for (const state of valuesOf(unit, 'StateDirectory').flatMap((names) => names.split(' ')))
    await mkdir(join(folder, state.replace('%i', i)), { recursive: true });
  const environment = Object.entries(environmentOf(unit, { i, d, L: folder, S: folder, t: '/run' }));
  const placed = environment.map(([name, value]) => [
    name,
    value.replace('/etc/ori/', `${FOLDER}/examples/`),
  ]);
  await expectAccepted(service, Object.fromEntries(placed));
});

test.each(SERVICES)('only %s can open the socket of its KMS agent', async (service) => {
  const unit = 'ori-kms-agent@.service';
  const { KMS_AGENT_SOCKET: socket } = environmentOf(unit, { i: service, d: '', t: '/run' });
  const readme = await readFile(join(FOLDER, 'README.md'), 'utf8');
  expect(readme).toContain(`unix:${socket?.replace(service, 'signer')}`);
  expect(valuesOf(unit, 'Group')).toEqual(['ori-%i']);
  expect(valuesOf(unit, 'RuntimeDirectory')).toEqual(['ori-kms-%i']);
  expect(valuesOf(unit, 'RuntimeDirectoryMode')).toEqual(['0750']);
});

test('the log can read the audit files of both signers, and runs as a different user', async () => {
  const files = ['1', '2'].map((i) => `/var/log/ori-signer/audit-${i}.jsonl`);
  expect(readEnvironmentFile('log.env')['LOG_AUDIT_FILES']?.split(',')).toEqual(files);
  expect(valuesOf('ori-log.service', 'SupplementaryGroups')).toEqual(
    valuesOf('ori-signer@.service', 'Group'),
  );
  expect(valuesOf('ori-log.service', 'User')).not.toEqual(valuesOf('ori-signer@.service', 'User'));
  expect(valuesOf('ori-signer@.service', 'LogsDirectoryMode')).toEqual(['0750']);
  expect(valuesOf('ori-signer@.service', 'UMask')).toEqual(['0027']);
});

test('no two units share a port; the gateway and Prometheus know every instance', async () => {
  const read = (path: string) => readFile(join(ROOT, 'deploy', path), 'utf8');
  const ports: string[] = [LOG_SPEC.port, LOG_SPEC.opsPort].map((field) => String(field.defaultText));
  expect(await read('gateway/site.example/log.conf')).toBe(`server 127.0.0.1:${ports[0]};\n`);
  for (const [service, members] of [
    ['signer', 'signers'],
    ['management', 'management'],
  ] as const) {
    const files = ['1', '2'].map((i) => readEnvironmentFile(`${service}@${i}.env`));
    const [listening, ops] = ['PORT', 'OPS_PORT'].map((name) =>
      files.map((file) => String(file[`${service.toUpperCase()}_${name}`])),
    ) as [string[], string[]];
    const site = await read(`gateway/site.example/${members}.conf`);
    for (const of of ['max_fails=1 fail_timeout=1s', 'backup max_fails=0'])
      expect(site).toContain(listening.map((port) => `server 127.0.0.1:${port} ${of};\n`).join(''));
    const targets = ops.map((port) => `"localhost:${port}"`).join(', ');
    expect(await read(`prometheus/targets/${service}.yml`)).toBe(`- targets: [${targets}]\n`);
    ports.push(...listening, ...ops);
  }
  const { GUARD_PORT, GUARD_OPS_PORT } = readEnvironmentFile('guard@1.env');
  ports.push(String(GUARD_PORT), String(GUARD_OPS_PORT));
  expect(ports.filter((port, index) => ports.indexOf(port) !== index)).toEqual([]);
});

test('a guard is stopped before its daemon', () => {
  expect(valuesOf('ori-guard@.service', 'After').join(' ').split(' ')).toContain('%i.service');
});

test('the README lists every secret that a unit loads', async () => {
  const readme = await readFile(join(FOLDER, 'README.md'), 'utf8');
  for (const line of UNITS.flatMap((name) => valuesOf(name, 'LoadCredential'))) {
    expect(readme).toContain(`\`${line.split('/').at(-1)?.replace('%i', 'signer')}\``);
  }
});

test.each([
  ['ori-rotate-keys.timer', /`, (daily), by/, 'OnCalendar=$1'],
  ['ori-audit-export.timer', /`, (hourly), by/, 'OnCalendar=$1'],
  ['ori-signer.logrotate', /one a day, kept for (\d+) days/, 'daily\n    rotate $1'],
  ['ori-gateway.logrotate', /one a day, (\d+) of each/, 'daily\n    rotate $1'],
])('%s does it as often as the README says', async (name, pattern, setting) => {
  const rows = (await readFile(join(FOLDER, 'README.md'), 'utf8')).split('\n');
  const [, figure = ''] = pattern.exec(rows.find((row) => row.startsWith(`| \`${name}\``)) ?? '') ?? [];
  expect(figure).not.toBe('');
  expect(await readFile(join(FOLDER, name), 'utf8')).toContain(`${setting.replace('$1', figure)}\n`);
});

test('the command of the README that installs Node also replaces one that runs, as an upgrade does', async () => {
  const readme = await readFile(join(FOLDER, 'README.md'), 'utf8');
  const command = /^(cp .*node-linux.*)$/m.exec(readme)?.[1] ?? '';
  const [made, installed] = [`node_modules/node-linux-${process.arch}/bin`, 'installed/node/bin'];
  for (const place of [made, installed]) {
    await mkdir(join(folder, place), { recursive: true });
    await copyFile('/bin/sleep', join(folder, place, 'node'));
  }
  const running = spawn(join(folder, installed, 'node'), ['60']);
  try {
    await once(running, 'spawn');
    const copy = command.replace('/opt/ori/', 'installed/');
    await promisify(execFile)('sh', ['-c', copy], { cwd: folder });
  } finally {
    running.kill();
  }
});

function lines(file: string): string[] {
  const name = file.replace('/etc/ori/', '').replace('%i', file.includes('kms-agent') ? 'signer' : '1');
  return Object.entries(readEnvironmentFile(name)).map(([key, value]) => `${key}=${value}`);
}
