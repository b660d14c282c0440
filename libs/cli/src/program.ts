import { printable, printableJson, printableLines } from '@ori/terminal/printable';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { VERSION } from './adapters/user-agent.ts';
import type { Context, GlobalOptions, Surroundings } from './commands/context.ts';
import { CliError, isCliError } from './core/errors.ts';
import { EXIT } from './core/exit-codes.ts';
import {
  CALL_HELP,
  DOCTOR_CALL_HELP,
  DOCTOR_GATEWAY_HELP,
  LOGIN_HELP,
  MAIN_HELP,
  SIGN_HELP,
} from './text/help.ts';
import { tell } from './text/sentences.ts';
import { createTerminal } from './text/terminal.ts';

/**
 * Runs one command line and resolves to its exit code. Writes to the two streams of `surroundings`, never to
 * the console, and does not throw. Each command's module loads when it is the one that runs.
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    await createProgram(surroundings).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    return report(toFailure(error), surroundings, args.includes('--json'));
  }
}

function createProgram(surroundings: Surroundings): Command {
  const program = new Command('ori')
    .description('Sign in, sign requests to intern daemons, call them.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--base-url <url>', 'base address of the API, ending in /v1 (ORI_BASE_URL)')
    .option('--profile <name>', 'whose session to use (ORI_PROFILE; default)')
    .option('--json', 'results on stdout and failures on stderr as JSON')
    .option('--verbose', 'say on stderr what is done; never shows a token')
    .addHelpText('after', MAIN_HELP)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => surroundings.stderr.write(text),
      outputError: () => {},
    })
    .exitOverride();
  const context = (): Context => toContext(surroundings, program.opts());

  program
    .command('login')
    .description('sign in and keep the session')
    .option('--oidc', 'with OpenID Connect (the default)')
    .option('--device', 'with a code, for machines without a browser')
    .option('--no-browser', 'print the address only')
    .option('--scope <scopes>', 'ask for these scopes of the API only')
    .option('--with-token', 'take an access token from stdin instead')
    .option('--timeout <seconds>', 'how long to wait for you (300)', parseSeconds)
    .addHelpText('after', LOGIN_HELP)
    .action(async (options) => (await import('./commands/login.ts')).login(context(), options));
  program
    .command('whoami')
    .description('say who is signed in, where, and for what')
    .action(async () => (await import('./commands/whoami.ts')).whoami(context()));
  program
    .command('profiles')
    .description('list the profiles that have a session')
    .action(async () => (await import('./commands/profiles.ts')).profiles(context()));
  program
    .command('logout')
    .description('end the session, here and at the issuer')
    .action(async () => (await import('./commands/logout.ts')).logout(context()));
  program
    .command('sign')
    .description('print the proof headers for a request that something else will send')
    .argument('<intern>', 'id of the intern')
    .option('--path <path>', 'path of the request, as it will be sent')
    .option('--data <text>', 'the request body')
    .option('--file <file>', 'file that holds the request body (- for stdin)')
    .option('--body-sha256 <hex>', 'SHA-256 of the request body, instead of the body')
    .option('--v1-only', 'a version 1 proof, bound to no path; most daemons refuse it')
    .addHelpText('after', SIGN_HELP)
    .action(async (intern, options) => (await import('./commands/sign.ts')).sign(context(), intern, options));
  takingCall(program.command('call'))
    .description('sign a request and send it to the daemon of an intern')
    .addHelpText('after', CALL_HELP)
    .action(async (intern, path, options) =>
      (await import('./commands/call.ts')).call(context(), intern, path, options),
    );
  program
    .command('interns')
    .description('look at interns')
    .command('list')
    .description('list the interns that you can see, newest first')
    .option('--status <statuses>', 'only with these statuses, separated by commas')
    .option('--workspace <id>', 'only of this workspace')
    .action(async ({ status, workspace: workspaceId }) =>
      (await import('./commands/interns-list.ts')).internsList(context(), { status, workspaceId }),
    );
  const doctor = program.command('doctor').description('find out why a proof is refused');
  doctor
    .command('gateway')
    .description('find what in an nginx configuration changes what was signed')
    .argument('<nginx.conf>', 'the main configuration, or one that it includes')
    .option('--skip-missing', 'leave out what is included and not there')
    .addHelpText('after', DOCTOR_GATEWAY_HELP)
    .action(async (file, options) =>
      (await import('./commands/doctor-gateway.ts')).doctorGateway(context(), file, options),
    );
  takingCall(doctor.command('call'))
    .description('call a daemon, and say what changed on the way when it refuses')
    .addHelpText('after', DOCTOR_CALL_HELP)
    .action(async (intern, path, options) =>
      (await import('./commands/doctor-call.ts')).doctorCall(context(), intern, path, options),
    );
  return program;
}

function takingCall(command: Command): Command {
  return command
    .argument('<intern>', 'id of the intern')
    .argument('<path>', 'path of the request, such as /api/invoke')
    .option('--data <text>', 'the request body')
    .option('--file <file>', 'file that holds the request body (- for stdin)')
    .option('--daemon <url>', 'where the daemon is (ORI_DAEMON_URL)')
    .option('--content-type <type>', 'media type of the body', 'application/json')
    .option('--timeout <seconds>', 'longest silence of the daemon (300)', parseSeconds);
}

function toContext(surroundings: Surroundings, options: GlobalOptions): Context {
  const { baseUrl, profile, json = false, verbose = false } = options;
  const terminal = createTerminal(surroundings.stdout, surroundings.stderr, { verbose, json });
  return {
    ...surroundings,
    terminal,
    json,
    ...(baseUrl === undefined ? {} : { baseUrlOption: baseUrl }),
    ...(profile === undefined ? {} : { profileOption: profile }),
  };
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,5}$/.test(text) || seconds < 1)
    throw new InvalidArgumentError('It takes a whole number of seconds.');
  return seconds;
}

function toFailure(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  // Help for lack of a command was printed already.
  if (error.code === 'commander.help') return new CliError('usage', { detail: 'Say what to do.' });
  const detail = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return new CliError('usage', {
    detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1).replace(/\.?$/, '.')}`,
  });
}

function report(error: unknown, { stderr }: Surroundings, json: boolean): number {
  if (!(error instanceof CliError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(`ori: This is a defect of ori; please report it.\n${printableLines(message)}\n`);
    return EXIT.unexpected;
  }
  const { exit, what, next } = tell(error);
  if (json) stderr.write(`${printableJson({ error: { code: error.code, exit, message: what, next } })}\n`);
  else if (isCliError(error, 'interrupted')) stderr.write('ori: Interrupted.\n');
  else stderr.write(`ori: ${printable(what)}\n     ${printable(next)}\n`);
  return exit;
}
