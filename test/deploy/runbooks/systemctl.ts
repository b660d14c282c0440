// Instead of `systemctl`: starts what the unit files in /etc/systemd/system name, with their environment and credentials.
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { HOST, pidOf, runOnce, type Start, startService, stopService } from './supervise.ts';

const [verb = '', ...words] = process.argv.slice(2);
await Promise.all(words.filter((word) => !word.startsWith('-')).map(apply));

async function apply(name: string): Promise<void> {
  if (verb === 'disable') return;
  const [, base = '', instance] = /^(.*?)(?:@(.*?))?(?:\.service|\.timer)?$/.exec(name) ?? [];
  const suffix = name.endsWith('.timer') ? 'timer' : 'service';
  const file = join(HOST, 'etc/systemd/system', `${base}${instance === undefined ? '' : '@'}.${suffix}`);
  if (!existsSync(file)) {
    console.error(`Unit ${name} not found.`);
    process.exit(5);
  }
  if (suffix === 'timer') return;
  const settings = [...readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm)];
  const of = (key: string) => settings.filter(([, each]) => each === key).map(([, , value = '']) => value);
  if (verb === 'status') return void process.kill(pidOf(name), 0);
  if (verb === 'reload') return void process.kill(pidOf(name), 'SIGHUP');
  if (verb === 'restart') await stopService(name);
  const start = prepare(name, instance ?? '', of);
  if (of('Type')[0] === 'oneshot') runOnce(start);
  else await startService(name, start);
}

function prepare(name: string, instance: string, of: (key: string) => string[]): Start {
  const credentials = join(HOST, 'run/credentials', name);
  const places: Record<string, string> = { i: instance, d: credentials, L: join(HOST, 'var/log') };
  Object.assign(places, { S: join(HOST, 'var/lib'), t: join(HOST, 'run') });
  const fill = (text: string) => text.replace(/%([a-zA-Z])/g, (_, letter: string) => places[letter] ?? '');
  mkdirSync(credentials, { recursive: true });
  for (const credential of of('LoadCredential')) {
    const [id = '', source = ''] = fill(credential).split(':');
    copyFileSync(source, join(credentials, id));
  }
  for (const folder of of('LogsDirectory')) mkdirSync(join(HOST, 'var/log', folder), { recursive: true });
  for (const folder of of('StateDirectory').flatMap((names) => names.split(' ')))
    mkdirSync(join(HOST, 'var/lib', folder), { recursive: true });
  const lines = [
    ...of('EnvironmentFile').flatMap((path) => readFileSync(fill(path), 'utf8').split('\n')),
    ...of('Environment').map(fill),
  ];
  const pairs = lines.flatMap((line) =>
    [...line.matchAll(/^(\w+)=(.*)$/g)].map(([, key, value]) => [key, value]),
  );
  return { words: fill(of('ExecStart')[0] ?? '').split(' '), env: Object.fromEntries(pairs) };
}
