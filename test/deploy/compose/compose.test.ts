import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { connectRedis } from '@ori/redis/connection';
import { Secret } from '@ori/runtime/secret';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startRedis } from '../../env/redis.ts';
import { expectAccepted, runAdmin } from '../check-config.ts';
import { exposedPorts, STAGES } from '../image/dockerfile.ts';
import { prepare } from '../prepared.ts';
import { ROOT } from '../root.ts';
import { networksOf, readCompose, type Service } from './compose-file.ts';

const prepared = await prepare('https://login.example.com');
afterAll(() => prepared[Symbol.asyncDispose]());
const compose = readCompose(prepared.env);
const services = Object.entries(compose.services);
const kindOf = (name: string) => name.replace(/-\d$/, '');
const service = (name: string) => compose.services[name] as Service;

/** Which services share a network: the intended connections, and clients of the same server. */
const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  gateway: ['blackbox', 'log', 'management', 'prometheus', 'signer'],
  signer: ['admin', 'gateway', 'log', 'management', 'migrate', 'postgres', 'prometheus', 'redis'],
  management: ['admin', 'gateway', 'log', 'migrate', 'postgres', 'prometheus', 'signer'],
  migrate: ['admin', 'management', 'postgres', 'signer'],
  admin: ['log', 'management', 'migrate', 'postgres', 'prometheus', 'signer'],
  redis: ['signer'],
  postgres: ['admin', 'management', 'migrate', 'signer'],
  log: ['admin', 'gateway', 'management', 'prometheus', 'signer'],
  prometheus: ['admin', 'alertmanager', 'blackbox', 'gateway', 'grafana', 'log', 'management', 'signer'],
  alertmanager: ['prometheus'],
  blackbox: ['gateway', 'prometheus'],
  grafana: ['prometheus'],
};

test('Redis writes what it gets to its disk, evicts nothing, and takes its users from the file', () => {
  const command = service('redis').command?.join(' ');
  for (const setting of ['appendonly yes', 'maxmemory-policy noeviction', 'aclfile /run/secrets/redis.acl'])
    expect(command).toContain(`--${setting}`);
});

test('Redis keeps what scripts wrote when it is restarted, though the default user is off', async () => {
  const acl = join(prepared.folder, 'secrets/redis.acl');
  const [, ...words] = service('redis').command ?? [];
  const own = words.slice(0, words.indexOf('--dir')).map((word) => (word.endsWith('redis.acl') ? acl : word));
  await using server = await startRedis({ arguments: own });
  const given = readFileSync(join(prepared.folder, 'secrets/signer-redis-url'), 'utf8');
  const url = given.replace('redis:6379', new URL(server.url).host);
  const client = connectRedis(new Secret(url), { purpose: 'test' });
  onTestFinished(() => client.disconnect());
  await once(client, 'ready');
  const both = `redis.call('set', KEYS[1], 'kept') redis.call('set', KEYS[2], 'kept')`;
  await client.eval(both, 2, 'ori:turns:one', 'ori:turns:two');
  await server.restart();
  await expect.poll(() => client.get('ori:turns:two').catch(() => 'not connected')).not.toBe('not connected');
  expect(await client.get('ori:turns:two')).toBe('kept');
});

test('the services require bound sessions, and their own hardening', () => {
  for (const [name, prefix] of [
    ['signer-1', 'SIGNER'],
    ['management', 'MANAGEMENT'],
  ] as const)
    expect(service(name).environment).toMatchObject({
      [`${prefix}_REQUIRE_DPOP`]: 'true',
      [`${prefix}_REQUIRE_HARDENED`]: 'true',
    });
});

describe.each(services)('%s', (name, each) => {
  test('is confined: not root, read-only, no capabilities, no core dumps, limits', () => {
    expect(each).toMatchObject({
      user: `${prepared.env['ORI_UID']}:${prepared.env['ORI_GID']}`,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
    });
    expect(prepared.env['ORI_UID']).not.toBe('0');
  });

  test('uses an exact image version: ours of this release, others with registry and number', () => {
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    const target = kindOf(name).replace('migrate', 'admin');
    const ours = STAGES.has(target);
    expect(each.image).toMatch(
      ours ? new RegExp(`^ori/${target}:${version}$`) : /^docker\.io\/[\w/-]+:v?\d+(\.\d+){1,2}(-bookworm)?$/,
    );
    if (each.build) expect(each.build.target).toBe(target);
  });

  test('gets secrets as files, each one declared', () => {
    for (const [key, value] of Object.entries(each.environment ?? {})) {
      const isAddress = /^https?:\/\/[\w.:/-]+$/.test(String(value));
      if (/URL|PASSWORD|SECRET|KEK|TOKEN/.test(key) && !isAddress) expect(key).toMatch(/_FILE$/);
      const file = /^\/run\/secrets\/(.+)$/.exec(String(value))?.[1];
      if (file) expect(each.secrets).toContain(file);
    }
    for (const secret of each.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
  });

  test('shares a network only with the services it talks to', () => {
    const beside = services
      .filter(([, other]) => networksOf(other).some((network) => networksOf(each).includes(network)))
      .map(([other]) => kindOf(other))
      .filter((other) => other !== kindOf(name));
    expect([...new Set(beside)].toSorted()).toEqual(NEIGHBOURS[kindOf(name)]);
  });
});

describe('what is published', () => {
  test('is the gateway, and Grafana on loopback', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    expect(published.toSorted()).toEqual(['gateway 8443:8443', 'grafana 127.0.0.1:3000:3000']);
  });

  test('can reach the internet; stores, ops ports and Prometheus cannot', () => {
    const open = Object.keys(compose.networks).filter((name) => compose.networks[name]?.internal !== true);
    const outward = services.filter(([, each]) => networksOf(each).some((network) => open.includes(network)));
    expect([...new Set(outward.map(([name]) => kindOf(name)))].toSorted()).toEqual([
      'alertmanager',
      'gateway',
      'grafana',
      'management',
      'signer',
    ]);
  });
});

describe('the configuration', () => {
  const placed = (environment: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        value
          .replace('/run/secrets', join(prepared.folder, 'secrets'))
          .replace('/var/lib/ori', prepared.folder),
      ]),
    );

  test.each(['signer-1', 'management', 'log'])('of %s is accepted by its own check-config', async (name) => {
    await expectAccepted(kindOf(name), placed(service(name).environment));
  });

  test('is the same for both signers, and for both uses of ori-admin except for the login', () => {
    expect(service('signer-2').environment).toEqual(service('signer-1').environment);
    const { ORI_ADMIN_DATABASE_URL_FILE: operator, ...admin } = service('admin').environment ?? {};
    const { ORI_ADMIN_DATABASE_URL_FILE: owner, ...migrate } = service('migrate').environment ?? {};
    expect(admin).toEqual(migrate);
    expect([operator, owner]).toEqual(['/run/secrets/operator-url', '/run/secrets/owner-url']);
  });

  test.each(['signer', 'management'])(
    'of migrate is accepted by ori-admin, with the KEK ring of %s',
    async (owner) => {
      const { code, output } = await runAdmin(['kek', 'list', owner], placed(service('migrate').environment));
      expect(output).toContain(`${owner}-`);
      expect(code).toBe(0);
    },
  );

  test('prepare.sh creates what compose.yaml mounts, and what the units of systemd load, inaccessible to other users', () => {
    const folder = join(prepared.folder, 'secrets');
    const mounted = Object.values(compose.secrets).map(({ file }) => basename(file));
    const further = services
      .flatMap(([, { volumes = [] }]) => volumes)
      .filter((volume) => volume.startsWith('./secrets/'))
      .map((volume) => basename(volume.split(':')[0] ?? ''));
    expect(readdirSync(folder).toSorted()).toEqual(['auditor-url', ...mounted, ...further].toSorted());
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
  });
});

test('what is mounted of the checkout can be read by the user that all runs as, also where only root could read it', () => {
  const mounted = services
    .flatMap(([, { volumes = [] }]) => volumes)
    .map((volume) => volume.split(':')[0] ?? '');
  const ours = mounted
    .filter((path) => !/^\.\/(secrets|state)\//.test(path))
    .map((path) => join(prepared.folder, path));
  const files = ours.flatMap((path) =>
    statSync(path).isDirectory()
      ? [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, String(name)))]
      : [path],
  );
  expect(files.length).toBeGreaterThan(ours.length);
  const unreadable = files.filter((path) => {
    const { uid, mode } = statSync(path);
    return uid !== Number(prepared.env['ORI_UID']) && (mode & 0o004) === 0;
  });
  expect(unreadable).toEqual([]);
});

describe('addresses', () => {
  const share = (one: string, other: string) =>
    networksOf(service(one)).some((network) => networksOf(service(other)).includes(network));

  test('of the log is the one that its network assigns, so that the gateway starts without it', () => {
    const text = readFileSync(`${ROOT}deploy/docker/gateway-site/log.conf`, 'utf8');
    const { ipv4_address: address } = Object(service('log').networks).log;
    expect(text).toBe(`server ${address}:${exposedPorts('log')[0]};\n`);
    expect(networksOf(service('gateway'))).toContain('log');
  });

  test.each(['signers', 'management'])('of the upstream %s are services and their API ports', (pool) => {
    const text = readFileSync(`${ROOT}deploy/docker/gateway-site/${pool}.conf`, 'utf8');
    for (const [, host = '', port = ''] of text.matchAll(/^server ([\w-]+):(\d+)/gm)) {
      expect(exposedPorts(kindOf(host))[0]).toBe(port);
      expect(share('gateway', host)).toBe(true);
    }
    const hosts = new Set([...text.matchAll(/^server ([\w-]+):/gm)].map(([, host = '']) => host));
    expect([...hosts]).toEqual(
      Object.keys(compose.services).filter((name) => kindOf(name) === pool.replace('signers', 'signer')),
    );
  });

  test('of Alertmanager are where Prometheus sends alerts, and it has the file that ships', () => {
    const targets = readFileSync(`${ROOT}deploy/docker/prometheus-targets/alertmanager.yml`, 'utf8');
    expect(parse(targets)).toEqual([{ targets: ['alertmanager:9093'] }]);
    expect(share('prometheus', 'alertmanager')).toBe(true);
    expect(service('alertmanager').volumes?.[0]).toMatch(/^\.\.\/prometheus\/alertmanager\.yml:/);
  });

  test.each([
    ['signer', 'signer'],
    ['management', 'management'],
    ['log', 'log'],
    ['nginx', 'gateway'],
  ])('scraped by Prometheus in the job %s include every %s at its ops port', (job, kind) => {
    const [group] = parse(readFileSync(`${ROOT}deploy/docker/prometheus-targets/${job}.yml`, 'utf8'));
    const expected = Object.keys(compose.services).filter((name) => kindOf(name) === kind);
    expect(group.targets).toEqual(expected.map((name) => `${name}:${exposedPorts(kind)[1]}`));
    for (const name of expected) expect(share('prometheus', name)).toBe(true);
  });
});
