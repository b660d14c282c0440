import { disableApiKey, enableApiKey, keysCreatedBy } from '@ori/administration/api-keys';
import { endingKeys } from '@ori/administration/ended-keys';
import { listApiKeys } from '@ori/administration/lists';
import { createNamedKey } from '@ori/administration/named';
import type { NewApiKey } from '@ori/store/writes/api-keys';
import { Option } from 'commander';
import type { Command } from '../command.ts';
import { reportEnding } from '../ended-keys.ts';
import { UsageError } from '../failure.ts';
import { addList, type ListOptions, listing } from '../options.ts';
import { type SecretOptions, withSecretOutput } from '../secret-output.ts';

interface CreateOptions extends SecretOptions {
  kind: 'api' | 'management';
  name: string;
  workspace?: string;
  organization?: string;
  intern?: string;
  createdBy?: string;
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys; only their hashes are stored');

  key
    .command('create')
    .description('create a key and print it; it cannot be shown again')
    .addOption(
      new Option('--kind <kind>', 'what it gives access to')
        .choices(['api', 'management'])
        .makeOptionMandatory(),
    )
    .requiredOption('--name <name>', 'display name')
    .option('--workspace <id>', 'for an api key: the workspace whose interns it can access')
    .option('--intern <id>', 'for an api key: access to this intern only')
    .option('--organization <id>', 'for a management key: the organization it manages')
    .option('--created-by <user>', 'id of the user it belongs to, with whose access it ends')
    .option('--out <file>', 'write it to a new file that only its owner can read')
    .option('--show', 'print it even if stdout is a terminal')
    .examples(
      'ori-admin key create --kind api --workspace ws_7Qm2 --name ci --out ci.key',
      'ori-admin key create --kind management --organization org_3xYz --name console --json | vault write …',
    )
    .does(async (admin, options: CreateOptions) => {
      const wanted = toNewKey(options);
      await withSecretOutput(admin, options, async (output) => {
        const { key: made, hash, label } = await admin.withDatabase((db) => createNamedKey(db, wanted));
        output.deliver(`${made}\n`);
        const where = output.file === undefined ? { key: made } : { file: output.file };
        admin.report(
          { hash, label, ...where },
          {
            lines: [output.file === undefined ? made : hash],
            note: `Created the ${wanted.kind} key ${label}, hash ${hash}.`,
          },
        );
      });
    });

  addList(key, 'list keys by hash and label, including disabled ones')
    .option('--organization <id>', 'only those of this organization')
    .does(
      listing(
        (db, { limit, after, organization }: ListOptions<'organization'>) =>
          listApiKeys(db, { limit, after, organization_id: organization }),
        ({ hash, label, kind, name, ...row }) => ({
          hash,
          label,
          kind,
          name,
          organization: row.organization_id,
          workspace: row.workspace_id,
          intern: row.intern_id,
          owner: row.created_by,
          created: row.created_at,
          disabled: row.disabled_at,
        }),
      ),
    );

  key
    .command('disable')
    .description('refuse the key from now on; prints the keys that it created')
    .argument('<hash>', HASH)
    .option('--with-created', 'for a management key: the keys that it created too')
    .does(async (admin, hash: string, { withCreated }: { withCreated?: true }) => {
      requireHash(hash);
      const keys = await admin.withDatabase((db) =>
        endingKeys(db, { hash }, async (trx) => {
          const created = withCreated ? await keysCreatedBy(trx, { hash }) : [];
          for (const one of [hash, ...created]) await disableApiKey(trx, { hash: one });
        }),
      );
      reportEnding(admin, { hash, disabled: true }, 'Disabled.', keys);
    });

  key
    .command('enable')
    .description('accept the key again')
    .argument('<hash>', HASH)
    .does(async (admin, hash: string) => {
      requireHash(hash);
      await admin.withDatabase((db) => enableApiKey(db, { hash }));
      admin.report({ hash, disabled: false }, { note: 'Enabled.' });
    });
}

const HASH = 'hash of the key as in the list, never the key itself';

function requireHash(hash: string): void {
  if (/^[0-9a-f]{64}$/.test(hash)) return;
  // Not quoted: it may be the key.
  throw new UsageError(
    'Expected the hash of a key: 64 characters of 0-9a-f.',
    'Find it with ori-admin key list.',
  );
}

function toNewKey({ kind, name, workspace, organization, intern, createdBy }: CreateOptions): NewApiKey {
  if (kind === 'management') {
    if (organization === undefined || workspace !== undefined || intern !== undefined) {
      throw new UsageError(
        'A management key requires --organization, and takes neither --workspace nor --intern.',
      );
    }
    return { kind, name, organizationId: organization, createdBy };
  }
  if (workspace === undefined || organization !== undefined) {
    throw new UsageError('An api key requires --workspace, and does not take --organization.');
  }
  return { kind, name, workspaceId: workspace, internId: intern, createdBy };
}
