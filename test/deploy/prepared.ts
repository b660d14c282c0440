import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { shipped } from '../env/programs.ts';
import { ROOT } from './root.ts';

/** Runs `prepare.sh` unchanged, with the shipped `ori-admin`, in a checkout that only its owner can read. */
export async function prepare(issuer: string) {
  const deploy = await mkdtemp(join(tmpdir(), 'ori-compose-'));
  const made = ['secrets', 'state', '.env'].map((name) => `${ROOT}deploy/docker/${name}`);
  const filter = (source: string) => !made.includes(source);
  for (const name of ['docker', 'grafana', 'prometheus'])
    await cp(`${ROOT}deploy/${name}`, join(deploy, name), { recursive: true, filter });
  await promisify(execFile)('chmod', ['-R', 'go=', deploy]);
  const folder = join(deploy, 'docker');
  const { PATH, HOME } = process.env;
  const ORI_ADMIN = `${process.execPath} ${await shipped('admin/ori-admin')}`;
  await promisify(execFile)('sh', [join(folder, 'prepare.sh'), issuer], { env: { PATH, HOME, ORI_ADMIN } });
  const text = await readFile(join(folder, '.env'), 'utf8');
  return {
    folder,
    /** The variables of `.env`. */
    env: Object.fromEntries(
      [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    ),
    /** The text of a file in `secrets/`. */
    secret: (name: string) => readFile(join(folder, 'secrets', name), 'utf8'),
    [Symbol.asyncDispose]: () => rm(deploy, { recursive: true }),
  };
}
