import { randomUUID } from 'node:crypto';
import { AdminError, createCredential, deleteCredential, listAllCredentials } from '@ori/store/admin';
import { applyUpdate } from '@ori/store/byok/apply-update';
import type { ByokUpdate } from '@ori/store/byok/credential';
import { createCredentialVault } from '@ori/store/byok/vault';
import type { Database } from '@ori/store/database';
import { managementQueries } from '@ori/store/management';
import { Option } from 'commander';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { newCredential, requireProvider } from '../new-credential.ts';
import { addList, confirmed, type ListOptions, listing } from '../options.ts';
import { readSecret } from '../read-secret.ts';
import {
  addKeySource,
  addPolicy,
  type KeySourceOptions,
  type PolicyOptions,
  policyOf,
  requireNoKeyArgument,
} from './byok-options.ts';
import { credentialOwner, type PlaceOptions, placeOf, requireOwnKeys } from './byok-place.ts';

type CreateOptions = KeySourceOptions &
  PolicyOptions &
  PlaceOptions & { provider: string; sortOrder?: number };

export function addByokCommands(program: Command, context: () => Context): void {
  const byok = program.command('byok').description('provider credentials of organizations; stored sealed');

  addPolicy(addKeySource(byok.command('create')))
    .description('store a provider credential, whose key is read from stdin or a file; prints its id')
    .requiredOption('--provider <slug>', 'provider of the key')
    .option('--workspace <id>', 'for this workspace')
    .option('--organization <id>', 'for every workspace of this organization')
    .examples(
      'ori-admin byok create --provider openai --workspace ws_7Qm2 --name production < openai.key',
      'ori-admin byok create --provider azure --organization org_3xYz --key-file azure.key --declared-region europe',
    )
    .action(async (options: CreateOptions) => {
      requireNoKeyArgument(options);
      const provider = requireProvider(options.provider);
      const admin = context();
      admin.config('databaseUrl', 'managementKekFile');
      const vault = createCredentialVault(await admin.readRing('management'));
      const key = await readSecret(admin, options);
      const columns = newCredential(provider, key, policyOf(options));
      const made = await admin.withDatabase(async (db) => {
        const place = await placeOf(db, options);
        await requireOwnKeys(db, place.organization_id, columns.allowed_api_key_hashes ?? []);
        const row = { id: randomUUID(), ...place };
        const sealed_key = await vault.seal(row, key);
        await createCredential(db, {
          ...row,
          ...columns,
          sort_order: options.sortOrder,
          provider,
          sealed_key,
        });
        return { id: row.id, label: columns.label };
      });
      admin.report(made, { lines: [made.id], note: `Stored the ${provider} credential ${made.label}.` });
    });

  addList(byok, 'list credentials without their keys')
    .option('--organization <id>', 'only those of this organization')
    .addOption(new Option('--provider <slug>', 'only those of this provider').argParser(requireProvider))
    .action(
      listing(
        context,
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
    .action(async (id: string, options: KeySourceOptions) => {
      requireNoKeyArgument(options);
      const admin = context();
      admin.config('databaseUrl', 'managementKekFile');
      const vault = createCredentialVault(await admin.readRing('management'));
      const key = await readSecret(admin, options);
      const { label } = await admin.withDatabase((db) =>
        change(db, id, { key }, async (stored) => ({ sealed_key: await vault.seal(stored, key) })),
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
      .action(async (id: string) => {
        const admin = context();
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
    .action(async (id: string) => {
      const admin = context();
      await admin.withDatabase(async (db) => {
        await deleteCredential(db, { id, ...(await credentialOwner(db, id)) });
      });
      admin.report({ id, deleted: true }, { note: 'Deleted.' });
    });
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
  const outcome = await managementQueries(db).changeCredential(account, id, async (stored) => ({
    ...applyUpdate(stored, update),
    ...(await more(stored)),
  }));
  if (outcome === 'absent') throw new AdminError('not_found', `no BYOK credential ${id}`);
  if (outcome === 'busy') throw new AdminError('conflict', 'the credential is being changed right now');
  return outcome.changed;
}
