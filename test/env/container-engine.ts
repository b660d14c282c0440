import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { installPackages, mayInstall } from './packages.ts';
import { REDIS_IMAGE } from './redis-server.ts';
import { findProgram } from './room.ts';

const run = promisify(execFile);
const COMMAND_LIMIT_MS = 60_000;
const PACKAGES = ['podman', 'runc', 'conmon', 'netavark', 'iptables'];
const PROGRAMS = ['podman', 'runc', 'iptables'];

/** podman's Docker API, with its own storage and network; it exits with this process. */
export interface ContainerEngine extends AsyncDisposable {
  /** The environment for a process that uses testcontainers. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Starts podman's Docker API on a private socket. It has one image, named like the official Redis image:
 * the `redis-server` of this machine, so that no registry is needed. As root on Debian, installs podman by apt first.
 *
 * @throws Error if podman is missing or cannot be started
 */
export async function startContainerEngine(): Promise<ContainerEngine> {
  requirePodman();
  const folder = await mkdtemp(join(tmpdir(), 'ori-engine-'));
  const socket = join(folder, 'podman.sock');
  const configuration = await writeConfiguration(folder);
  const keeper = keep(folder, configuration);
  const dispose = async () => {
    const gone = once(keeper, 'exit');
    keeper.ref();
    keeper.stdin.end();
    await gone;
  };
  try {
    const image = join(folder, 'image');
    await writeRedisImage(image);
    const options = { env: { ...process.env, ...configuration }, timeout: COMMAND_LIMIT_MS };
    const archive = `${image}.tar`;
    await run('tar', ['-C', image, '-cf', archive, '.'], options);
    const changes = ['CMD ["redis-server"]', 'EXPOSE 6379', 'WORKDIR /data', 'ENV PATH=/usr/local/bin'];
    const words = changes.flatMap((change) => ['--change', change]);
    await run(
      'podman',
      ['import', '--quiet', ...words, archive, `docker.io/library/${REDIS_IMAGE}`],
      options,
    );
    keeper.stdin.write(`serve unix://${socket}\n`);
    for (let tries = 0; !existsSync(socket); tries++) {
      if (tries === 200) throw new Error('podman did not open its socket within 10 s');
      await pause(50);
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    environment: {
      DOCKER_HOST: `unix://${socket}`,
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
    },
    [Symbol.asyncDispose]: dispose,
  };
}

function requirePodman(): void {
  const missing = () => PROGRAMS.filter((name) => !findProgram(name, ['/usr/sbin', '/sbin']));
  if (missing().length > 0 && mayInstall()) installPackages(PACKAGES);
  if (missing().length > 0) throw new Error(`not installed here: ${missing().join(', ')}`);
}

/** Two engines on one machine share no storage, no bridge and, with a probability of 12,799 in 12,800, no subnet. */
async function writeConfiguration(folder: string): Promise<Record<string, string>> {
  const name = `ori${randomBytes(4).toString('hex')}`;
  const subnet = `10.${randomInt(200, 250)}.${randomInt(256)}`;
  const files = {
    'storage.conf': `[storage]\ndriver = "vfs"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/root"\n`,
    // This process may have lower limits than podman's defaults.
    'containers.conf': [
      '[containers]\nlog_driver = "k8s-file"\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
      '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"',
      `[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "${folder}/networks"`,
      `default_network = "${name}"\n`,
    ].join('\n'),
    [`networks/${name}.json`]: JSON.stringify({
      name,
      id: randomBytes(32).toString('hex'),
      driver: 'bridge',
      network_interface: name,
      created: new Date().toISOString(),
      subnets: [{ subnet: `${subnet}.0/24`, gateway: `${subnet}.1` }],
      ipv6_enabled: false,
      internal: false,
      dns_enabled: false,
      ipam_options: { driver: 'host-local' },
    }),
  };
  await mkdir(join(folder, 'networks'));
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return {
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_CONF: join(folder, 'containers.conf'),
  };
}

/** Only `redis-server` and its shared libraries, without a shell. */
async function writeRedisImage(folder: string): Promise<void> {
  const program = findProgram('redis-server');
  if (program === undefined) throw new Error('no redis-server to build an image from');
  const { stdout } = await run('ldd', [program]);
  const libraries = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = '']) => path);
  for (const name of ['data', 'dev', 'etc', 'proc', 'sys', 'tmp', 'usr/local/bin']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  await copyFile(await realpath(program), join(folder, 'usr/local/bin/redis-server'));
  for (const library of libraries) {
    await mkdir(join(folder, dirname(library)), { recursive: true });
    await copyFile(library, join(folder, library));
  }
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/false\n');
}

/** Runs when its standard input closes, that is, when this process exits. Removes containers, service, mounts and folder. */
const KEEPER = `
read -r word address
[ "$word" = serve ] && { podman system service --time=0 "$address" >"$1/service.log" 2>&1 </dev/null & service=$!; }
while read -r word; do :; done
timeout 30 podman rm -af -t 0 >/dev/null 2>&1
[ -n "$service" ] && kill "$service" && wait "$service"
grep " $1/" /proc/mounts | cut -d ' ' -f 2 | sort -r | xargs -r umount -l
rm -rf -- "$1"
`;

function keep(folder: string, configuration: Readonly<Record<string, string>>) {
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'engine', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: { ...process.env, ...configuration },
  });
  keeper.stdin.on('error', () => {});
  keeper.unref();
  return keeper;
}
