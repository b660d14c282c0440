import { createRestating, type KeyStater, restateKeys } from '@ori/administration/key-statements';
import { ROLES, type Role } from '@ori/proof/statements';
import { ConfigError } from '@ori/runtime/config';
import { generateRoleKey, makeDelegation, readPublicKey } from '@ori/sealing/new-roles';
import { openKms } from '@ori/sealing/open-kms';
import { openRoleKey } from '@ori/sealing/roles';
import type { WrappedFile } from '@ori/sealing/wrapped-file';
import { Argument } from 'commander';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { PartialFailure } from '../failure.ts';
import { toDate, wholeNumber } from '../options.ts';
import { type SecretOptions, withSecretOutput } from '../secret-output.ts';

const DAY_SECONDS = 24 * 3600;
const ROLE_DAYS = 30;

interface DelegateOptions {
  root: string;
  key: string;
  lifetime: number;
}

export function addRootCommands(program: Command): void {
  const root = program
    .command('root')
    .description('the root that daemons pin, and the roles that it delegates to vouch for key sets');

  root
    .command('generate')
    .description('generate the private key of a root or of a role; prints the public key; needs no database')
    .requiredOption('--out <file>', 'write the private key to a new file that only its owner can read')
    .examples('ori-admin root generate --out root.json > root.pub')
    .does(async (admin, options: SecretOptions & { out: string }) => {
      const { rootKmsUrl: kmsUrl, kmsTokenFile } = admin.config('rootKmsUrl', 'kmsTokenFile');
      await withSecretOutput(admin, options, async (output) => {
        const made = await generateRoleKey(
          kmsUrl === undefined ? undefined : await openKms({ kmsUrl, kmsTokenFile }),
        );
        output.deliver(made.text);
        admin.stdout.write(`${JSON.stringify(made.publicJwk)}\n`);
        admin.note(`Wrote ${options.out}. Keep a root offline; no service needs it.`);
      });
    });

  root
    .command('delegate')
    .description(
      "sign, with a root, that a key has a role in this deployment; prints a line of the signers' file",
    )
    .addArgument(new Argument('<role>', 'what the key may do').choices(ROLES))
    .requiredOption('--root <file>', 'the private key of the root')
    .requiredOption('--key <file>', 'the public key of the role, or of the next root')
    .option('--lifetime <days>', 'how long it is good', wholeNumber(1, 3650), ROLE_DAYS)
    .examples(
      'ori-admin root delegate keys --root root.json --key keys.pub >> delegations.jsonl',
      'ori-admin root delegate freshness --root root.json --key freshness.pub >> delegations.jsonl',
    )
    .does(async (admin, role: Role, options: DelegateOptions) => {
      const { baseUrl } = admin.config('baseUrl');
      const signer = await openRoleKey(keyFile(admin, options.root, '--root'));
      const publicKey = readPublicKey({ path: options.key, variable: '--key' });
      const notBefore = Math.floor(Date.now() / 1000);
      const expiresAt = notBefore + options.lifetime * DAY_SECONDS;
      const line = makeDelegation(signer, { baseUrl, role, publicKey, notBefore, expiresAt });
      admin.stdout.write(`${JSON.stringify(line)}\n`);
      const [from, until] = [notBefore, expiresAt].map((seconds) => toDate(seconds)?.toISOString());
      admin.note(`It is in force from ${from} to ${until}, if the clock of this machine is right.`);
    });

  root
    .command('state')
    .description('have the new key of the role "keys" state the keys that the former one stated')
    .option('--former <file>', 'the public key of the former role')
    .option('--all', 'also state the keys that nobody stated: once, when a deployment gets its root')
    .does(async (admin, { former, all }: { former?: string; all?: true }) => {
      admin.config('databaseUrl', 'baseUrl');
      const stater = await staterOf(admin);
      if (stater === undefined) throw new ConfigError(['ORI_ADMIN_KEYS_ROLE_FILE: is required but not set']);
      const by = former === undefined ? undefined : readPublicKey({ path: former, variable: '--former' });
      const { restateAnswerKeys } = await import('@ori/administration/answer-keys');
      const restating = createRestating(stater, { former: by, all });
      await admin.withDatabase(async (db) => {
        await restateKeys(db, restating);
        await restateAnswerKeys(db, restating);
      });
      const { stated, skipped } = restating;
      admin.report({ stated: stated.length, skipped }, { note: `${stated.length} keys stated.` });
      if (skipped.length > 0) {
        throw new PartialFailure(
          `${skipped.length} keys were stated by nobody, or by another role: ${skipped.slice(0, 20).join(', ')}.`,
          'Revoke what you did not add. Otherwise name the former role with --former, or state all with --all.',
        );
      }
    });
}

/** The role that states keys, if its file is configured. @throws ConfigError; KmsError */
export async function staterOf(admin: Context): Promise<KeyStater | undefined> {
  const { keysRoleFile } = admin.config('keysRoleFile');
  if (keysRoleFile === undefined) return undefined;
  const { baseUrl } = admin.config('baseUrl');
  const { publicKey, sign } = await openRoleKey(keyFile(admin, keysRoleFile, 'ORI_ADMIN_KEYS_ROLE_FILE'));
  return { baseUrl, publicKey, sign };
}

function keyFile(admin: Context, path: string, variable: string): WrappedFile {
  const { rootKmsUrl, kmsTokenFile } = admin.config('rootKmsUrl', 'kmsTokenFile');
  return { path, variable, kmsUrl: rootKmsUrl, kmsTokenFile };
}
