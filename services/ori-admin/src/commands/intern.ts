import { createNamedIntern, deleteIntern, listAllInterns, updateIntern } from '@ori/store/admin';
import type { InternProgress } from '@ori/store/schema';
import { INTERN_STATUSES, type InternStatus } from '@ori/store/vocabulary';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { addList, confirmed, type ListOptions, listing } from '../options.ts';
import { addIconCommand } from './intern-icon.ts';

interface FieldOptions {
  description?: string;
  hostname?: string;
  model?: string;
  status?: InternStatus;
  vault?: string;
  attachedVault?: string;
  instructions?: string;
  failure?: string;
  progress?: InternProgress;
}

/** The fields that `--clear` empties, by the name of their option. */
const CLEARABLE = {
  description: 'description',
  hostname: 'hostname',
  model: 'model',
  vault: 'vault_id',
  'attached-vault': 'attached_vault_id',
  instructions: 'instructions',
  failure: 'last_failure_message',
  progress: 'progress',
} as const;
type Clearable = keyof typeof CLEARABLE;
const CLEARABLE_NAMES = Object.keys(CLEARABLE) as Clearable[];

export function addInternCommands(program: Command): void {
  const intern = program.command('intern').description('interns and their fields');

  addFields(intern.command('create'))
    .description('create an intern; prints its id')
    .argument('<name>')
    .requiredOption('--workspace <id>', 'workspace that owns the intern')
    .option('--id <id>', 'use this id instead of a generated one')
    .option('--created-by <user>', 'id of the user who created it')
    .addOption(
      new Option('--created-by-key <hash>', 'hash of the API key that created it').conflicts('createdBy'),
    )
    .examples('ori-admin intern create charles --workspace "$ws" --hostname charles.interns.example.com')
    .does(
      async (
        admin,
        name: string,
        options: FieldOptions & { workspace: string; id?: string; createdBy?: string; createdByKey?: string },
      ) => {
        const wanted = {
          name,
          workspaceId: options.workspace,
          id: options.id,
          createdByUserId: options.createdBy,
          createdByKeyHash: options.createdByKey,
          ...fieldsOf(options),
        };
        const made = await admin.withDatabase((db) => createNamedIntern(db, wanted));
        admin.report(made, { lines: [made.id], note: `Created the intern ${name}.` });
      },
    );

  addList(intern, 'list interns, newest first')
    .option('--workspace <id>', 'only those of this workspace')
    .addOption(new Option('--status <status>', 'only those with this status').choices(INTERN_STATUSES))
    .does(
      listing(
        (db, { limit, after, workspace, status }: ListOptions<'workspace' | 'status'>) =>
          listAllInterns(db, { limit, after, workspace_id: workspace, status }),
        ({ id, name, status, progress, hostname, model, ...row }) => ({
          id,
          name,
          workspace: row.workspace_id,
          status,
          progress: progress && `${progress.step_number}/${progress.total_steps} ${progress.step_label}`,
          hostname,
          model,
          created: row.created_at,
        }),
      ),
    );

  addFields(intern.command('update'))
    .description('change the given fields and keep the others')
    .argument('<intern>', 'id of the intern')
    .option('--name <name>', 'new name')
    .addOption(
      new Option(
        '--clear <field>',
        `clear a field; may be repeated: ${CLEARABLE_NAMES.join(', ')}`,
      ).argParser(parseClearable),
    )
    .examples(
      'ori-admin intern update int_7Qm2 --status provisioning --progress "2/5 Installing tools"',
      'ori-admin intern update int_7Qm2 --status running --clear progress --clear failure',
    )
    .does(async (admin, internId: string, options: FieldOptions & { name?: string; clear?: Clearable[] }) => {
      const fields = fieldsOf(options);
      const cleared = (options.clear ?? []).map((name) => CLEARABLE[name]);
      const both = cleared.find((field) => fields[field] !== undefined);
      if (both !== undefined) throw new UsageError('A field cannot be both set and cleared.');
      await admin.withDatabase((db) =>
        updateIntern(db, {
          internId,
          name: options.name,
          ...fields,
          ...Object.fromEntries(cleared.map((field) => [field, null])),
        }),
      );
      admin.report({ id: internId, updated: true }, { note: 'Changed.' });
    });

  addIconCommand(intern);

  confirmed(
    intern.command('delete'),
    (id) => `This deletes the intern ${id} and its signing keys, which cannot be restored.`,
  )
    .description('delete an intern with its icon, its own API keys and its signing keys')
    .argument('<intern>', 'id of the intern')
    .does(async (admin, internId: string) => {
      await admin.withDatabase((db) => deleteIntern(db, { internId }));
      admin.report({ id: internId, deleted: true }, { note: 'Deleted.' });
    });
}

function addFields(command: Command): Command {
  return command
    .option('--description <text>', 'purpose of the intern')
    .option(
      '--hostname <host>',
      'host name of its daemon: <intern name>.<domain>; never one that another intern had: its callers keep it',
    )
    .option('--model <slug>', '<provider>/<model>')
    .addOption(new Option('--status <status>', 'its status').choices(INTERN_STATUSES))
    .option('--vault <id>', 'id of its vault')
    .option('--attached-vault <id>', 'id of the vault attached to it')
    .option('--instructions <text>', 'its instructions')
    .option('--failure <text>', 'message of the last failure')
    .option('--progress <step>', 'progress of provisioning, such as "2/5 Installing tools"', parseProgress);
}

function fieldsOf(options: FieldOptions) {
  const { description, hostname, model, status, instructions, progress } = options;
  return {
    description,
    hostname,
    model,
    status,
    instructions,
    progress,
    vault_id: options.vault,
    attached_vault_id: options.attachedVault,
    last_failure_message: options.failure,
  };
}

function parseProgress(text: string): InternProgress {
  const [, step, total, label] = /^([1-9]\d{0,5})\/([1-9]\d{0,5}) +(\S.*)$/.exec(text) ?? [];
  if (label === undefined || Number(step) > Number(total)) {
    throw new InvalidArgumentError(
      'Expected a step, the number of steps and a label: "2/5 Installing tools".',
    );
  }
  return { step_number: Number(step), total_steps: Number(total), step_label: label };
}

function parseClearable(text: string, former: Clearable[] | undefined): Clearable[] {
  const name = CLEARABLE_NAMES.find((known) => known === text);
  if (name === undefined) throw new InvalidArgumentError(`Expected one of ${CLEARABLE_NAMES.join(', ')}.`);
  return [...(former ?? []), name];
}
