import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './root.ts';

/**
 * In a network namespace of its own, `address-family.ts 4|6`: gives the machine one address, of this family, starts the
 * guard with the environment of its image and nginx with each shipped status site, and prints what a probe of that
 * address gets.
 */
const isSix = process.argv[2] === '6';
const address = isSix ? '[fd00:10::5]' : '10.9.8.5';
const ip = (...words: string[]) => execFileSync('ip', words);
if (!isSix) await writeFile('/proc/sys/net/ipv6/conf/all/disable_ipv6', '1');
ip('link', 'set', 'lo', 'up');
if (isSix) ip('address', 'delete', '127.0.0.1/8', 'dev', 'lo');
ip('address', 'add', isSix ? 'fd00:10::5/128' : '10.9.8.5/32', 'dev', 'lo', ...(isSix ? ['nodad'] : []));

const folder = await mkdtemp('/tmp/ori-family-');
const dockerfile = await readFile(join(ROOT, 'deploy/docker/Dockerfile'), 'utf8');
const [, hosts = ''] = /^ENV (GUARD_HOST=.*)$/m.exec(dockerfile) ?? [];
const guard = spawn(process.execPath, [join(ROOT, 'services/guard/src/main.ts')], {
  stdio: 'ignore',
  env: {
    ...Object.fromEntries(hosts.split(' ').map((pair) => pair.split('='))),
    GUARD_INTERN_ID: 'int_1',
    GUARD_KEYS_URL: 'http://127.0.0.1:1/jwks.json',
  },
});
const told: Record<string, string> = { guard: await probe(`http://${address}:9086/livez`) };
guard.kill();

await cp(join(ROOT, 'deploy/gateway/status.conf'), join(folder, 'status.conf'));
for (const kind of ['docker', 'kubernetes/base']) {
  const site = join(ROOT, 'deploy', kind, 'gateway-site/status.conf');
  await writeFile(
    join(folder, 'nginx.conf'),
    `pid ${folder}/pid; daemon off; events {} http { include ${site}; }`,
  );
  const nginx = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: 'ignore',
  });
  told[kind] = await probe(`http://${address}:9080/`);
  nginx.kill();
  await new Promise((resolve) => nginx.once('exit', resolve));
}
await rm(folder, { recursive: true });
console.log(JSON.stringify(told));

/** The status of the first answer within ten seconds. */
async function probe(url: string): Promise<string> {
  const until = Date.now() + 10_000;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return String(answer.status);
    if (Date.now() > until) return 'no answer';
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
