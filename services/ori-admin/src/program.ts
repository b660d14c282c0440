import { printable, printableJson, printableLines } from '@ori/faces/printable';
import { explainUsage } from '@ori/faces/usage';
import { describeSettings } from '@ori/runtime/describe-settings';
import { VERSION } from '@ori/runtime/version';
import { CommanderError } from 'commander';
import { Command } from './command.ts';
import { addAnswerKeyCommands } from './commands/answer-key.ts';
import { addApplyCommand } from './commands/apply.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addByokCommands } from './commands/byok.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addInternCommands } from './commands/intern.ts';
import { addKekCommands } from './commands/kek.ts';
import { addKeyCommands } from './commands/key.ts';
import { addMemberCommands } from './commands/member.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOrganizationCommands } from './commands/org.ts';
import { addRootCommands } from './commands/root.ts';
import { addSigningKeyCommands } from './commands/signing-key.ts';
import { addSwitchCommands } from './commands/switches.ts';
import { addUserCommands } from './commands/user.ts';
import { addWorkspaceCommands } from './commands/workspace.ts';
import { ADMIN_SPEC } from './config.ts';
import { createContext, type HostEnvironment } from './context.ts';
import { EXIT, EXIT_MEANINGS } from './exit-codes.ts';
import { type Told, tell, UsageError } from './failure.ts';

const EXIT_CODES = [
  'Exit codes:',
  ...EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`),
];

const MAIN_HELP = `
Examples:
  ori-admin migrate
  ori-admin apply -f team.yaml --keys-out keys
  ori-admin intern list --json

A command prints only its result on stdout, such as a new id or secret. Messages go to stderr.

Environment (each command requires only what it needs):

${describeSettings('ORI_ADMIN', ADMIN_SPEC)}
${EXIT_CODES.join('\n')}`;

/**
 * Runs one command line and resolves to its exit code. Writes to the two streams of `host`, never to the
 * console, and does not throw.
 */
export async function run(args: readonly string[], host: HostEnvironment): Promise<number> {
  try {
    await createProgram(host).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const failure = error instanceof CommanderError ? new UsageError(explainUsage(error)) : error;
    return report(failure, host, args.includes('--json'));
  }
}

function createProgram(host: HostEnvironment): Command {
  const context = () => createContext(host, program.opts<{ json?: boolean; actor?: string }>());
  const program: Command = new Command('ori-admin', context)
    .description(
      'Administer an ori deployment: organizations, users, interns, access, and the keys that sign and seal.',
    )
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--actor <role>', 'attribute changes to this role, which the database login must be a member of')
    .option('--json', 'results on stdout and failures on stderr as JSON')
    .addHelpText('after', MAIN_HELP)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
      outputError: () => {},
    })
    .exitOverride();
  for (const add of [
    addMigrateCommand,
    addApplyCommand,
    addOrganizationCommands,
    addWorkspaceCommands,
    addUserCommands,
    addMemberCommands,
    addKeyCommands,
    addInternCommands,
    addSigningKeyCommands,
    addAnswerKeyCommands,
    addRootCommands,
    addByokCommands,
    addKekCommands,
    addSwitchCommands,
    addAuditCommands,
    addDoctorCommand,
  ]) {
    add(program);
  }
  return program;
}

function report(error: unknown, { stderr }: HostEnvironment, json: boolean): number {
  const { exit, code, message, next } = tell(error) ?? tellDefect(error);
  if (json) stderr.write(`${printableJson({ error: { code, exit, message, next } })}\n`);
  else stderr.write(`ori-admin: ${printableLines(message)}\n           ${printable(next)}\n`);
  return exit;
}

function tellDefect(error: unknown): Told {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    exit: EXIT.unexpected,
    code: 'defect',
    message,
    next: 'This is a defect of ori-admin; please report it.',
  };
}
