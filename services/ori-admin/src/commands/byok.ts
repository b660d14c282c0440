import { randomUUID } from 'node:crypto';
import { deleteCredential } from '@ori/administration/credentials';
import { listAllCredentials } from '@ori/administration/lists';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { applyUpdate, newCredential } from '@ori/store/byok/apply-update';
import { changeCredential } from '@ori/store/byok/change-credential';
import type { ByokUpdate } from '@ori/store/byok/credential';
import { sealProviderKey } from '@ori/store/byok/seal-provider-key';
import type { Database } from '@ori/store/database';
import { PROVIDERS, type Provider } from '@ori/store/vocabulary';
import { AdminError } from '@ori/store/writes/admin-error';
import { createCredential } from '@ori/store/writes/byok';
import { Option } from 'commander';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../failure.ts';
import { addList, confirmed, type ListOptions, listing, wholeNumber } from '../options.ts';
import { readSecret } from '../read-secret.ts';
import { credentialOwner, type PlaceOptions, placeOf } from './byok-place.ts';

interface KeySourceOptions {
  readonly keyFile?: string;
  readonly key?: unknown;
}

interface CreateOptions extends KeySourceOptions, PlaceOptions {
  readonly provider: Provider;
  readonly name?: string;
  readonly sortOrder?: number;
}

export function addByokCommands(program: Command): void {
  const byok = program.command('byok').description('provider credentials of organizations; stored sealed');

  addKeySource(byok.command('create'))
    .description('store a provider credential, whose key is read from stdin or a file; prints its id')
    .addOption(providerOption('provider of the key').makeOptionMandatory())
    .option('--workspace <id>', 'for this workspace')
    .option('--organization <id>', 'for every workspace of this organization')
    .option('--name <name>', 'display name')
    .option(
      '--sort-order <number>',
      'its position in the order of credentials',
      wholeNumber(-2_147_483_648, 2_147_483_647),
    )
    .examples(
      'ori-admin byok create --provider openai --workspace ws_7Qm2 --name production < openai.key',
      'ori-admin byok create --provider azure --organization org_3xYz --key-file azure.key',
    )
    .does(async (admin, { provider, name, sortOrder: sort_order, ...options }: CreateOptions) => {
      const { ring, key } = await readKey(admin, options);
      const columns = newCredential(provider, { key, name });
      const made = await admin.withDatabase(async (db) => {
        const row = { id: randomUUID(), ...(await placeOf(db, options)) };
        const sealed_key = await sealProviderKey(ring, row, key);
        await createCredential(db, { ...row, ...columns, sort_order, provider, sealed_key });
        return { id: row.id, label: columns.label };
      });
      admin.report(made, { lines: [made.id], note: `Stored the ${provider} credential ${made.label}.` });
    });

  addList(byok, 'list credentials without their keys')
    .option('--organization <id>', 'only those of this organization')
    .addOption(providerOption('only those of this provider'))
    .does(
      listing(
        (db, { limit, after, organization, provider }: ListOptions<'organization' | 'provider'>) =>
          listAllCredentials(db, { limit, after, organization_id: organization, provider }),
        ({ id, label, provider, name, disabled, ...row }) => ({
          id,
          label,
          provider,
          name,
          organization: row.organization_id,
          workspace: row.workspace_id ?? '(all)',
          disabled,
          use: [row.is_fallback && 'fallback', row.is_required && 'required', row.is_byok_only && 'byok-only']
            .filter((word) => word !== false)
            .join(' '),
          region: row.declared_region,
          created: row.created_at,
        }),
      ),
    );

  addKeySource(byok.command('rotate'))
    .description('overwrite the key of a credential in place; label and region follow the new key')
    .argument('<credential>', 'id of the credential')
    .examples('ori-admin byok rotate 5e0c… --key-file openai.key')
    .does(async (admin, id: string, options: KeySourceOptions) => {
      const { ring, key } = await readKey(admin, options);
      const { label } = await admin.withDatabase((db) =>
        change(db, id, { key }, async (stored) => ({ sealed_key: await sealProviderKey(ring, stored, key) })),
      );
      admin.report({ id, label }, { note: `The label of the credential is now ${label}.` });
    });

  for (const [verb, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    byok
      .command(verb)
      .description(disabled ? 'stop using the credential' : 'use the credential again')
      .argument('<credential>', 'id of the credential')
      .does(async (admin, id: string) => {
        await admin.withDatabase((db) => setDisabled(db, id, disabled));
        admin.report({ id, disabled }, { note: disabled ? 'Disabled.' : 'Enabled.' });
      });
  }

  confirmed(
    byok.command('delete'),
    (id) => `This deletes the credential ${id} with the only stored copy of its key.`,
  )
    .description('delete a credential with its key')
    .argument('<credential>', 'id of the credential')
    .does(async (admin, id: string) => {
      await admin.withDatabase(async (db) => {
        await deleteCredential(db, { id, ...(await credentialOwner(db, id)) });
      });
      admin.report({ id, deleted: true }, { note: 'Deleted.' });
    });
}

const providerOption = (description: string) =>
  new Option('--provider <slug>', description).argParser(requireProvider);

function requireProvider(slug: string): Provider {
  const provider = PROVIDERS.find((known) => known === slug);
  if (provider !== undefined) return provider;
  throw new UsageError(`Unknown provider ${JSON.stringify(slug)}.`, `Providers: ${PROVIDERS.join(', ')}`);
}

/**
 * Where the key is read from. `--key` is declared only to be refused: every process of the machine could see its value.
 */
function addKeySource(command: Command): Command {
  return command
    .option('--key-file <file>', 'file that contains only the key (default: stdin)')
    .addOption(new Option('--key [key]').hideHelp());
}

/** The key, and the ring to seal it under. @throws UsageError, which does not quote the key; ConfigError; KmsError */
async function readKey(admin: Context, options: KeySourceOptions) {
  if (options.key !== undefined) {
    throw new UsageError(
      'Do not pass a key as an argument: every process of this machine can read it, and the shell history keeps it.',
      'Pipe it in or name its file with --key-file, and replace the exposed key at its provider.',
    );
  }
  admin.config('databaseUrl', 'managementKekFile');
  return { ring: await admin.readRing('management'), key: await readSecret(admin, options) };
}

/** Whether an operator disabled it stays with the credential: the API does not enable it. */
const setDisabled = (db: Database, id: string, disabled: boolean) =>
  change(db, id, { disabled }, async () => ({ disabled_by_operator: disabled }));

/** Changes a credential by the rules of the API, holding the same row lock. */
async function change(
  db: Database,
  id: string,
  update: ByokUpdate,
  more: (stored: {
    id: string;
    organization_id: string;
  }) => Promise<{ sealed_key?: string; disabled_by_operator?: boolean }>,
): Promise<{ label: string }> {
  const account = await credentialOwner(db, id);
  const changing = changeCredential(db, account, id, async (stored) => ({
    ...applyUpdate(stored, update),
    ...(await more(stored)),
  }));
  const changed = await changing.catch((error) => {
    if (!(error instanceof StoreUnavailable && error.code === 'contended')) throw error;
    throw new AdminError('conflict', 'the credential is being changed right now');
  });
  if (changed === undefined) throw new AdminError('not_found', `no BYOK credential ${id}`);
  return changed;
}
