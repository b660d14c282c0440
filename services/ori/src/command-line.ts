import { Argument, Command, Help } from 'commander';
import { VERSION } from './adapters/user-agent.ts';
import { CliError } from './core/errors.ts';
import { declareRequests, parsePort, parseSeconds } from './request-commands.ts';
import type { Context, GlobalOptions, HostEnvironment } from './session/context.ts';
import { openProfile, type Profile } from './session/profile.ts';
import {
  COMPLETION_SCRIPTS,
  expectedAfter,
  renderCandidates,
  SHELLS,
  type Shell,
  subcommandOf,
} from './text/completion.ts';
import { COMPLETION_HELP, LOGIN_HELP, MAIN_HELP } from './text/help.ts';
import { createTerminal } from './text/terminal.ts';

/** Every command of `ori` with its options. The module of a command is loaded when the command runs. */
export function createProgram(host: HostEnvironment, { json = false } = {}): Command {
  const columns = (host.stdout.isTTY && host.stdout.columns) || 80;
  const wrapped = (text: string) => new Help().boxWrap(text, columns);
  const version = json ? JSON.stringify({ version: VERSION }, null, 2) : VERSION;
  const program: Command = new Command('ori')
    .description('Sign in, sign requests to intern daemons, call them.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--base-url <url>', 'base address of the API, ending in /v1 (ORI_BASE_URL)')
    .option('--profile <name>', 'profile to use (ORI_PROFILE; default)')
    .option('--json', 'print results and failures as JSON')
    .option('-v, --verbose', 'print progress to stderr; never a token')
    .addHelpText('after', wrapped(MAIN_HELP))
    .configureHelp({ showGlobalOptions: true, helpWidth: columns })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      // The help of a group alone; a script gets only the error.
      writeErr: (text) => json || host.stdout.write(text),
      outputError: () => {},
    })
    .helpCommand(false)
    .exitOverride();
  const context = (): Context => toContext(host, program.opts());
  const profile = (): Profile => openProfile(context());

  program.commandsGroup('Sign in:');
  program
    .command('login')
    .description('sign in and store the session')
    .option('--oidc', 'with OpenID Connect (the default)')
    .option('--device', 'with a code, for a machine without a browser')
    .option('--no-browser', 'only print the address')
    .option('--issuer <url>', 'sign in at this one of the API’s issuers (the last one)')
    .option(
      '--scope <scopes>',
      'request only these scopes of the API, now and at later sign-ins of this profile',
    )
    .option('--unbound', 'do not bind the session to a key of this computer, where the issuer would')
    .option('--fresh', 'sign in anew, although the issuer remembers you')
    .option('--trust', 'accept what differs from what this profile trusts, after it was shown')
    .option('--with-token', 'read an access token from stdin instead')
    .option('--timeout <seconds>', 'how long to wait (300)', parseSeconds)
    .option('--redirect-port <port>', 'port of the redirect address (a free one)', parsePort)
    .addHelpText('after', wrapped(LOGIN_HELP))
    .action(async (options) => (await import('./commands/login.ts')).login(profile(), options));
  program
    .command('whoami')
    .description('show who is signed in, where, and with which scopes')
    .action(async () => (await import('./commands/whoami.ts')).whoami(profile()));
  const profiles = program
    .command('profiles')
    .description('list the profiles that have a session')
    .action(async () => (await import('./commands/profiles.ts')).profiles(context()));
  profiles
    .command('use')
    .description('use a profile for later commands')
    .argument('<profile>', 'its name')
    .action(async (name: string) => (await import('./commands/profiles.ts')).useProfile(context(), name));
  profiles
    .command('daemon')
    .description('set or print the origin of the daemon of an intern, for this profile')
    .argument('<intern>', 'id or name of the intern')
    .argument('[url]', 'origin of its daemon, for later commands')
    .option('--unset', 'use the hostname that the API lists')
    .action(async (intern, url, options) =>
      (await import('./commands/profile-daemons.ts')).profileDaemon(profile(), intern, url, options),
    );
  profiles
    .command('root')
    .description('set or print the roots that have to vouch for the keys of the API, for this profile')
    .argument('[files...]', 'the public key of a root each, as the operator gives it')
    .option('--unset', 'believe what the API publishes')
    .action(async (files, options) =>
      (await import('./proven/profile-root.ts')).profileRoot(profile(), files, options),
    );
  program
    .command('logout')
    .description('end the session, here and at the issuer')
    .option('--all', 'of every profile')
    .action(async (options) => (await import('./commands/logout.ts')).logout(context(), options));
  declareRequests(program, { context, profile }, wrapped);
  program.commandsGroup('About ori:');
  program
    .command('help')
    .description('print the help of a command')
    .argument('[command...]', 'such as: doctor call')
    .action((names: readonly string[]) => helpedBy(program, names).outputHelp());
  program
    .command('version')
    .description('print the version')
    .action(() => void host.stdout.write(`${version}\n`));
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .argument('[words...]', 'what the script asks for: the words up to the cursor')
    .addHelpText('after', wrapped(COMPLETION_HELP))
    .action(async (shell: Shell, words: readonly string[]) => {
      if (words.length === 0) return void host.stdout.write(COMPLETION_SCRIPTS[shell]);
      const { candidates, value } = expectedAfter(program, words.slice(0, -1), words.at(-1) ?? '');
      const values =
        value === undefined ? [] : await (await import('./commands/complete.ts')).valuesOf(context(), value);
      host.stdout.write(renderCandidates(shell, [...candidates, ...values]));
    });
  return program;
}

/** The command of these names. Throws CliError `usage` if there is none. */
function helpedBy(program: Command, names: readonly string[]): Command {
  let command = program;
  for (const name of names) {
    const below = subcommandOf(command, name);
    if (below === undefined)
      throw new CliError('usage', { detail: `There is no command '${names.join(' ')}'.` });
    command = below;
  }
  return command;
}

function toContext(host: HostEnvironment, options: GlobalOptions): Context {
  const { baseUrl, profile, json = false, verbose = false } = options;
  const terminal = createTerminal(host.stdout, host.stderr, { verbose, json });
  return { ...host, terminal, json, baseUrlOption: baseUrl, profileOption: profile };
}
