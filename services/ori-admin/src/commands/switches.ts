import { setLifecycleWrites, setProgramme } from '@ori/administration/organizations';
import { readLifecycleWrites } from '@ori/store/signer';
import type { Command } from '../command.ts';

/** The operator's switches: the programme for a workspace, the lifecycle switch for everyone. */
export function addSwitchCommands(program: Command): void {
  const programme = program
    .command('programme')
    .description('workspaces in the interns programme; outside it, every intern operation answers 404')
    .examples('ori-admin programme add ws_7Qm2');
  for (const [verb, inProgramme] of [
    ['add', true],
    ['remove', false],
  ] as const) {
    programme
      .command(verb)
      .description(inProgramme ? 'add a workspace to the programme' : 'remove a workspace from the programme')
      .argument('<workspace>', 'id of the workspace')
      .does(async (admin, workspaceId: string) => {
        await admin.withDatabase((db) => setProgramme(db, { workspaceId, inProgramme }));
        admin.report(
          { id: workspaceId, in_programme: inProgramme },
          { note: inProgramme ? 'Added to the programme.' : 'Removed from the programme.' },
        );
      });
  }

  const lifecycle = program
    .command('lifecycle')
    .description(
      'the lifecycle switch of the whole service; while it is off, every request to sign answers 404',
    )
    .examples('ori-admin lifecycle off', 'ori-admin lifecycle show');
  for (const [verb, enabled] of [
    ['on', true],
    ['off', false],
  ] as const) {
    lifecycle
      .command(verb)
      .description(`switch it ${verb}`)
      .does(async (admin) => {
        await admin.withDatabase((db) => setLifecycleWrites(db, { enabled }));
        admin.report(
          { lifecycle_writes: enabled },
          { note: `The lifecycle switch is ${verb}; all signers obey it within two seconds.` },
        );
      });
  }
  lifecycle
    .command('show')
    .description('show whether it is on')
    .does(async (admin) => {
      const enabled = await admin.withDatabase(readLifecycleWrites);
      admin.report({ lifecycle_writes: enabled }, { lines: [enabled ? 'on' : 'off'] });
    });
}
