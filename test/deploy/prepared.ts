import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { shipped } from '../env/programs.ts';
import { ROOT } from './root.ts';

/** Runs `prepare.sh` unchanged, with the shipped `ori-admin`. */
export async function prepare(issuer: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ori-compose-'));
  await copyFile(`${ROOT}deploy/docker/prepare.sh`, join(folder, 'prepare.sh'));
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
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
