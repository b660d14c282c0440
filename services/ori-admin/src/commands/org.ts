import {
  createNamedOrganization,
  deleteOrganization,
  listOrganizations,
  renameOrganization,
  setTurnLimits,
} from '@ori/store/admin';
import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { addList, confirmed, listing } from '../options.ts';

export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('organizations');

  org
    .command('create')
    .description('create an organization; prints its id')
    .argument('<name>')
    .option('--id <id>', 'use this id instead of a generated one')
    .examples('org=$(ori-admin org create "Analytical Engines")')
    .does(async (admin, name: string, options: { id?: string }) => {
      const made = await admin.withDatabase((db) => createNamedOrganization(db, { name, id: options.id }));
      admin.report(made, { lines: [made.id], note: `Created the organization ${name}.` });
    });

  addList(org, 'list organizations').does(
    listing(listOrganizations, (row) => ({
      id: row.id,
      name: row.name,
      workspaces: row.workspaces,
      'turns per user': row.turns_per_user ?? 'default',
      turns: row.turns_per_organization ?? 'default',
      created: row.created_at,
    })),
  );

  org
    .command('rename')
    .description('rename an organization')
    .argument('<organization>', 'id of the organization')
    .argument('<name>')
    .does(async (admin, organizationId: string, name: string) => {
      await admin.withDatabase((db) => renameOrganization(db, { organizationId, name }));
      admin.report({ id: organizationId, name }, { note: `Renamed to ${name}.` });
    });

  org
    .command('limits')
    .description('give an organization turn limits of its own; effective within two seconds')
    .argument('<organization>', 'its id')
    .option(
      '--turns-per-user <n>',
      'turns of one user in a window; "default" for what the signer is configured with',
      readLimit,
    )
    .option('--turns-per-organization <n>', 'turns of the organization in a window, or "default"', readLimit)
    .examples('ori-admin org limits org_7Qm2 --turns-per-organization 6000')
    .does(async (admin, organizationId: string, options: LimitOptions) => {
      if (Object.keys(options).length === 0) throw new UsageError('Missing option: name a limit.');
      const [turnsPerUser, turnsPerOrganization] = [options.turnsPerUser, options.turnsPerOrganization].map(
        (limit) => (limit === 'default' ? null : limit),
      );
      const limits = await admin.withDatabase((db) =>
        setTurnLimits(db, { organizationId, turnsPerUser, turnsPerOrganization }),
      );
      const told = ([name, value]: [string, number | null]) => `${name}: ${value ?? 'default'}`;
      admin.report({ id: organizationId, ...limits }, { lines: Object.entries(limits).map(told) });
    });

  confirmed(org.command('delete'), (id) => `This deletes the organization ${id}.`)
    .description('delete an empty organization')
    .argument('<organization>', 'id of the organization')
    .does(async (admin, organizationId: string) => {
      await admin.withDatabase((db) => deleteOrganization(db, { organizationId }));
      admin.report({ id: organizationId, deleted: true }, { note: 'Deleted.' });
    });
}

interface LimitOptions {
  turnsPerUser?: number | 'default';
  turnsPerOrganization?: number | 'default';
}

function readLimit(text: string): number | 'default' {
  if (text === 'default') return text;
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new UsageError('A limit is a whole number above 0, or "default".');
  return Number(text);
}
