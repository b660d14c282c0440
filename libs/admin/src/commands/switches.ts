import { readLifecycleWrites, setLifecycleWrites, setProgramme } from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';

/** What the operator opens and closes: the programme for a workspace, the lifecycle switch for everyone. */
export function addSwitchCommands(program: Command, context: () => Context): void {
  const programme = program
    .command('programme')
    .description('which workspaces are in the interns programme; outside, every intern operation answers 404')
    .addHelpText('after', examples('ori-admin programme add ws_7Qm2'));
  for (const [verb, inProgramme] of [
    ['add', true],
    ['remove', false],
  ] as const) {
    programme
      .command(verb)
      .description(inProgramme ? 'take a workspace into it' : 'take a workspace out of it')
      .argument('<workspace>', 'its id')
      .action(async (workspaceId: string) => {
        const admin = context();
        await admin.withDatabase((db) => setProgramme(db, { workspaceId, inProgramme }));
        admin.report(
          { id: workspaceId, in_programme: inProgramme },
          { note: inProgramme ? 'It is in the programme now.' : 'It is out of the programme now.' },
        );
      });
  }

  const lifecycle = program
    .command('lifecycle')
    .description('the lifecycle switch of the whole service; off, every request to sign answers 404')
    .addHelpText('after', examples('ori-admin lifecycle off', 'ori-admin lifecycle show'));
  for (const [verb, enabled] of [
    ['on', true],
    ['off', false],
  ] as const) {
    lifecycle
      .command(verb)
      .description(`switch it ${verb}`)
      .action(async () => {
        const admin = context();
        await admin.withDatabase((db) => setLifecycleWrites(db, { enabled }));
        admin.report(
          { lifecycle_writes: enabled },
          { note: `The lifecycle switch is ${verb}; signers follow within two seconds.` },
        );
      });
  }
  lifecycle
    .command('show')
    .description('say whether it is on')
    .action(async () => {
      const admin = context();
      const enabled = await admin.withDatabase(readLifecycleWrites);
      admin.report({ lifecycle_writes: enabled }, { lines: [enabled ? 'on' : 'off'] });
    });
}
