import { deleteIntern } from '@ori/administration/interns';
import { listAllInterns } from '@ori/administration/lists';
import { INTERN_STATUSES } from '@ori/store/vocabulary';
import { Option } from 'commander';
import type { Command } from '../command.ts';
import { addList, confirmed, type ListOptions, listing } from '../options.ts';
import { addIconCommand } from './intern-icon.ts';

export function addInternCommands(program: Command): void {
  const intern = program.command('intern').description('interns and their fields');

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
          'answer keys': row.answer_keys?.length ?? null,
          created: row.created_at,
        }),
      ),
    );

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
