import { readFile } from 'node:fs/promises';
import { explainSystemError } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { type Profile, requireSession } from '../session/profile.ts';
import { changeTrust, readTrust } from '../session/trust.ts';
import { rootsOf } from './root.ts';

/**
 * Sets the roots that vouch for the keys of the API, from files with a public JWK each, or forgets them with `unset`; prints those in
 * use without either. Throws CliError `usage`.
 */
export async function profileRoot(
  profile: Profile,
  files: readonly string[],
  { unset = false }: { unset?: boolean },
): Promise<void> {
  if (unset && files.length > 0) throw new CliError('usage', { detail: 'Expected no file with --unset.' });
  const { base_url: baseUrl } = await requireSession(profile);
  if (!unset && files.length === 0) {
    const { roots = [] } = await readTrust(profile, baseUrl);
    return profile.terminal.result({ roots }, ...(roots.length > 0 ? roots : ['none']));
  }
  const roots = await Promise.all(files.map(readRoot));
  await changeTrust(profile, baseUrl, () => ({ roots: unset ? undefined : roots, answers: undefined }));
  const told = unset ? 'no root' : roots.join(' and ');
  profile.terminal.note(`From now on, ${told} has to vouch for the keys of ${baseUrl}.`);
}

async function readRoot(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new CliError('usage', { detail: `Cannot read ${file}: ${explainSystemError(error)}.` });
  });
  const { x } = (parseJson(text) ?? {}) as { x?: unknown };
  try {
    if (typeof x !== 'string') throw new TypeError('no key');
    rootsOf([x]);
    return x;
  } catch {
    throw new CliError('usage', {
      detail: `${file} is not the public key of a root.`,
      next: 'It has what ori-admin root generate prints.',
    });
  }
}
