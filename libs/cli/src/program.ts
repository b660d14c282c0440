import { printable, printableJson, printableLines } from '@ori/terminal/printable';
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
import { VERSION } from './adapters/user-agent.ts';
import type { Context, GlobalOptions, Surroundings } from './commands/context.ts';
import { CliError, isCliError } from './core/errors.ts';
import { EXIT } from './core/exit-codes.ts';
import { type Completable, renderCompletion, SHELLS, type Shell } from './text/completion.ts';
import {
  CALL_HELP,
  COMPLETION_HELP,
  DOCTOR_CALL_HELP,
  DOCTOR_GATEWAY_HELP,
  DPOP_PROOF_HELP,
  LOGIN_HELP,
  MAIN_HELP,
  SIGN_HELP,
} from './text/help.ts';
import { tell } from './text/sentences.ts';
import { createTerminal, red, takesColour } from './text/terminal.ts';
import { wrapLines } from './text/wrap.ts';

/**
 * Runs one command line and resolves to its exit code. Writes to the two streams of `surroundings`, never to
 * the console, and does not throw. Each command's module loads when it is the one that runs.
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const program = createProgram(surroundings);
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    return report(toFailure(error, named(program, args)), surroundings, args.includes('--json'));
  }
}

function createProgram(surroundings: Surroundings): Command {
  const columns = surroundings.stdout.isTTY ? (surroundings.stdout.columns ?? 80) : 80;
  const wrapped = (text: string) => wrapLines(text, columns);
  const program = new Command('ori')
    .description('Sign in, sign requests to intern daemons, call them.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--base-url <url>', 'base address of the API, ending in /v1 (ORI_BASE_URL)')
    .option('--profile <name>', 'whose session to use (ORI_PROFILE; default)')
    .option('--json', 'results on stdout and failures on stderr as JSON')
    .option('-v, --verbose', 'say on stderr what is done; never shows a token')
    .addHelpText('after', wrapped(MAIN_HELP))
    .configureHelp({ showGlobalOptions: true, helpWidth: columns })
    .configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => surroundings.stderr.write(text),
      outputError: () => {},
    })
    .exitOverride()
    .action(() => {
      // Help for a person; a script gets the error alone.
      if (!program.opts<GlobalOptions>().json) surroundings.stderr.write(program.helpInformation());
      throw new CliError('usage', { detail: 'Missing command.' });
    });
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
    .addHelpText('after', wrapped(LOGIN_HELP))
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
  takingBody(program.command('sign'))
    .description('print the proof headers for a request that something else will send')
    .option('--path <path>', 'path of the request, as it will be sent')
    .option('--body-sha256 <hex>', 'SHA-256 of the request body, instead of the body')
    .option('--v1-only', 'a version 1 proof, bound to no path; most daemons refuse it')
    .addHelpText('after', wrapped(SIGN_HELP))
    .action(async (intern, options) => (await import('./commands/sign.ts')).sign(context(), intern, options));
  program
    .command('dpop-proof')
    .description('print the DPoP proof for one request to the API that something else will send')
    .argument('<method>', 'method of the request, such as POST')
    .argument('<url>', 'address of the request')
    .addHelpText('after', DPOP_PROOF_HELP)
    .action(async (method, url) =>
      (await import('./commands/dpop-proof.ts')).dpopProof(context(), method, url),
    );
  takingCall(program.command('call'))
    .description('sign a request and send it to the daemon of an intern')
    .option('-i, --include', 'print status and headers of the answer too')
    .option('-o, --output <file>', 'write the body of the answer to a file')
    .addHelpText('after', wrapped(CALL_HELP))
    .action(async (intern, path, options) =>
      (await import('./commands/call.ts')).call(context(), intern, path, options),
    );
  const interns = program.command('interns').description('look at interns');
  interns
    .command('list')
    .description('list the interns that you can see, newest first')
    .option('--status <statuses>', 'only with these statuses, separated by commas')
    .option('--workspace <id>', 'only of this workspace')
    .action(async ({ status, workspace: workspaceId }) =>
      (await import('./commands/interns-list.ts')).internsList(context(), { status, workspaceId }),
    );
  interns
    .command('get')
    .description('show one intern')
    .argument('<intern>', 'id or name of the intern')
    .action(async (intern) => (await import('./commands/interns-get.ts')).internsGet(context(), intern));
  takingBody(program.command('log').description('check the signing log').command('verify'))
    .description('show that the proof of a call is in the signing log')
    .requiredOption('--headers <file>', 'the headers of the proof, as ori sign prints them')
    .requiredOption('--path <path>', 'path of the request')
    .requiredOption('--policy <file>', 'a tlog-policy file: the log, its witnesses, and how many of them')
    .option('--body-sha256 <hex>', 'SHA-256 of the request body, instead of the body')
    .option('--proof <file>', 'a .tlog-proof file to verify offline, instead of asking the log')
    .option('--out <file>', 'write the .tlog-proof file, good offline for ever')
    .action(async (intern, options) =>
      (await import('./commands/log-verify.ts')).logVerify(context(), intern, options),
    );
  const doctor = program.command('doctor').description('find out why a proof is refused');
  doctor
    .command('gateway')
    .description('find what in an nginx configuration changes what was signed')
    .argument('<nginx.conf>', 'the main configuration, or one that it includes (- for stdin)')
    .option('--skip-missing', 'leave out what is included and not there')
    .addHelpText('after', wrapped(DOCTOR_GATEWAY_HELP))
    .action(async (file, options) =>
      (await import('./commands/doctor-gateway.ts')).doctorGateway(context(), file, options),
    );
  takingCall(doctor.command('call'))
    .description('call a daemon, and say what changed on the way when it refuses')
    .addHelpText('after', wrapped(DOCTOR_CALL_HELP))
    .action(async (intern, path, options) =>
      (await import('./commands/doctor-call.ts')).doctorCall(context(), intern, path, options),
    );
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', wrapped(COMPLETION_HELP))
    .action((shell: Shell) => void surroundings.stdout.write(renderCompletion(shell, completables(program))));
  return program;
}

function takingBody(command: Command): Command {
  return command
    .argument('<intern>', 'id or name of the intern')
    .option('-d, --data <text>', 'the request body, or @FILE that holds it (@- for stdin)')
    .option('--data-raw <text>', 'the request body, even if it begins with @')
    .option('--file <file>', 'file that holds the request body (- for stdin)');
}

function takingCall(command: Command): Command {
  return takingBody(command)
    .argument('<path>', 'path of the request, such as /api/invoke')
    .option('--daemon <url>', 'where the daemon is (ORI_DAEMON_URL)')
    .option('--content-type <type>', 'media type of the body (application/json)')
    .option('-H, --header <header>', "another header, 'Name: value'; may be repeated", collect)
    .option('--timeout <seconds>', 'longest silence of the daemon (300)', parseSeconds);
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** Every command below `ori`, as a completion sees it. */
function completables(command: Command, path: readonly string[] = []): Completable[] {
  const below = [
    ...command.commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((name) => ({ name, description })),
    ),
  ];
  const options = command.options.map(({ short, long, description }) => ({
    flags: [short, long].filter((flag) => flag !== undefined && flag !== null),
    description,
  }));
  const own: Completable = { path, commands: below, options };
  return [own, ...command.commands.flatMap((sub) => completables(sub, [...path, sub.name()]))];
}

/** The command that the arguments name, as far as they do, such as `ori doctor call`. */
function named(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const sub = command.commands.find((candidate) => candidate.name() === arg);
    if (sub === undefined) continue;
    command = sub;
    path += ` ${sub.name()}`;
  }
  return path;
}

function toContext(surroundings: Surroundings, options: GlobalOptions): Context {
  const { baseUrl, profile, json = false, verbose = false } = options;
  const { stdout, stderr, environment } = surroundings;
  const terminal = createTerminal(stdout, stderr, {
    verbose,
    json,
    colour: takesColour(stdout, environment),
  });
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

function toFailure(error: unknown, command: string): unknown {
  const next = `See: ${command} --help`;
  if (isCliError(error, 'usage')) return new CliError('usage', { next, ...error.facts });
  if (!(error instanceof CommanderError)) return error;
  // Help for lack of a command was printed already.
  if (error.code === 'commander.help') return new CliError('usage', { detail: 'Missing command.', next });
  const detail = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return new CliError('usage', {
    detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1).replace(/\.?$/, '.')}`,
    next,
  });
}

function report(error: unknown, { stderr, environment }: Surroundings, json: boolean): number {
  const colour = takesColour(stderr, environment);
  const name = colour ? red('ori:') : 'ori:';
  if (!(error instanceof CliError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const what = 'This is a defect of ori; please report it.';
    if (json)
      stderr.write(
        `${printableJson({ error: { code: 'defect', exit: EXIT.unexpected, message, next: what } })}\n`,
      );
    else stderr.write(`${name} ${what}\n${printableLines(message)}\n`);
    return EXIT.unexpected;
  }
  const { exit, what, next } = tell(error);
  if (json) {
    const told = { code: error.code, exit, message: what, next, ...figuresOf(error) };
    stderr.write(`${printableJson({ error: told })}\n`);
  } else if (isCliError(error, 'interrupted')) stderr.write(`${name} Interrupted.\n`);
  else stderr.write(`${name} ${printable(what)}\n     ${printable(next)}\n`);
  return exit;
}

/** What a script needs of a failure besides its code. */
function figuresOf({ facts }: CliError): Record<string, unknown> {
  const { status, retryAfterSeconds, requestId } = facts as Partial<Record<string, unknown>>;
  return {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}
