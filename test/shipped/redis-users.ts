import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';

const ROOT = join(import.meta.dirname, '../..');
const READMES = ['services/signer/README.md', 'libs/public/verifier/README.md'];

/**
 * Creates the user with exactly the ACL line that the READMEs give to operators, and saves it in the server's ACL file.
 *
 * @returns the URL with that user's login
 */
export async function addShippedUser(
  url: string,
  name: 'ori-signer' | 'ori-redeeming',
  internId = '',
): Promise<string> {
  const texts = await Promise.all(READMES.map((path) => readFile(join(ROOT, path), 'utf8')));
  const line = new RegExp(`^ACL SETUSER ${name} (.*)$`, 'm').exec(texts.join('\n'))?.[1];
  if (line === undefined) throw new Error(`no README gives the ACL line of ${name}`);
  const password = randomBytes(16).toString('hex');
  const rules = line.replace('>SECRET', `>${password}`).replaceAll('int_7Qm2', internId).split(' ');
  const redis = new Redis(url);
  try {
    await redis.call('ACL', 'SETUSER', name, ...rules);
    await redis.call('ACL', 'SAVE');
  } finally {
    redis.disconnect();
  }
  const address = new URL(url);
  address.username = name;
  address.password = password;
  return address.href;
}
