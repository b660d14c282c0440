import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPlace } from '@ori/administration/apply';
import { applyTeam } from '@ori/administration/apply';
import { type Team, TeamFile } from '@ori/administration/apply/team';
import { AdminError } from '@ori/store/writes/admin-error';
import type { CreatedApiKey } from '@ori/store/writes/api-keys';
import { filePartOf } from '@ori/store/writes/ids';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { type Command, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../failure.ts';
import { problemsOf } from '../file-problems.ts';
import { openSecretOutput } from '../secret-output.ts';
import { staterOf } from './root.ts';

interface ApplyCommandOptions {
  file: string;
  dryRun?: true;
  prune?: true;
  yes?: true;
  keysOut?: string;
}

/** Keys that `apply` adds end like those of `signing-key add`. */
const SIGNING_KEY_SECONDS = 90 * 86_400;

export function addApplyCommand(program: Command): void {
  program
    .command('apply')
    .description('make organizations what a file says: workspaces, members, interns, keys and limits')
    .requiredOption('-f, --file <file>', 'YAML or JSON; - for stdin')
    .option('--dry-run', 'only show what would be done')
    .option('--prune', 'also remove what the lists of the file do not name; requires --yes')
    .option('--yes', 'confirm --prune')
    .option('--keys-out <folder>', 'where each new key is written, to a file that only its owner can read')
    .addHelpText(
      'after',
      `
Each organization is changed in one transaction. A file that was applied changes nothing when it is applied again; after
an interruption, apply it again.
${examples('ori-admin apply -f team.yaml --dry-run', 'ori-admin apply -f team.yaml --keys-out keys')}`,
    )
    .does(async (admin, options: ApplyCommandOptions) => {
      const teams = readTeams(options.file);
      const ids = teams.flatMap(({ id }) => id ?? []);
      const { dryRun = false, prune = false, keysOut } = options;
      if (prune && !dryRun && !options.yes) {
        throw new UsageError(
          '--prune removes what the file does not name. Nothing was done.',
          'To confirm, repeat with --yes.',
        );
      }
      const { issuer } = admin.config('databaseUrl', 'issuer');
      const home = dryRun ? {} : await homeOf(admin, teams);
      const deliver = keyWriter(admin, keysOut);
      const done: { id: string; name: string; changes: string[] }[] = [];
      await admin
        .withDatabase(async (db) => {
          for (const team of teams) {
            const plan = await applyTeam(db, team, { issuer, prune, dryRun, ids, ...home, deliver });
            const changes = plan.changes.map(({ sign, what }) => `${sign} ${what}`);
            done.push({ id: plan.organizationId, name: team.name, changes });
            admin.progress.show(`${done.length} of ${teams.length} organizations …`);
          }
        })
        .finally(() => {
          admin.progress.end();
          const changed = done.filter(({ changes }) => changes.length > 0);
          const lines = changed.flatMap(({ name, changes }) => changes.map((change) => `${name}: ${change}`));
          const told = `${changed.length} of ${done.length} organizations ${dryRun ? 'would be changed' : 'changed'}.`;
          admin.report({ dry_run: dryRun, organizations: done }, { lines, note: told });
        });
    });
}

/** Those with an id first. @throws UsageError for a file that cannot be read, AdminError for one that says something else */
function readTeams(file: string): readonly Team[] {
  const lines = new LineCounter();
  let document: Document.Parsed;
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file === '-' ? 0 : file));
    document = parseDocument(text, { lineCounter: lines });
    if (document.errors[0] !== undefined) throw document.errors[0];
    value = document.toJS();
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new UsageError(`Cannot read ${JSON.stringify(file)}: ${why}`, 'Expected YAML or JSON in UTF-8.');
  }
  const parsed = TeamFile.safeParse(value);
  if (parsed.success) return parsed.data.organizations.sort((a, b) => Number(!a.id) - Number(!b.id));
  const problems = problemsOf(parsed.error.issues, document, lines);
  throw new AdminError('invalid_input', problems.join('; '), { problems });
}

async function homeOf(admin: Context, teams: readonly Team[]) {
  const interns = teams.flatMap(({ workspaces = [] }) => workspaces.flatMap((one) => one.interns ?? []));
  const wantsKey = interns.some((one) => one.signing_key);
  const stater = wantsKey || interns.some((one) => one.answer_keys) ? await staterOf(admin) : undefined;
  if (!wantsKey) return { stater };
  const sealer = await admin.readRing('signer');
  return { stater, home: { sealer, stater, lifetimeSeconds: SIGNING_KEY_SECONDS } };
}

/**
 * Writes each key to a file of its own, before it is committed. A file that is there is of an interrupted run, or has
 * the key of another database: it is moved aside, because nobody can show that key again.
 */
function keyWriter(admin: Context, folder: string | undefined) {
  return ({ key }: CreatedApiKey, { organization, workspace, name }: KeyPlace): void => {
    if (folder === undefined) {
      throw new UsageError(
        `A new key ${JSON.stringify(name)} has to be written somewhere.`,
        'Add --keys-out FOLDER.',
      );
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const place = workspace === undefined ? [] : [workspace];
    const out = join(folder, [filePartOf(organization), ...place, filePartOf(name), 'key'].join('.'));
    let aside = out;
    while (existsSync(aside)) aside += '.former';
    if (aside !== out) renameSync(out, aside);
    openSecretOutput(admin, { out }).deliver(`${key}\n`);
  };
}
