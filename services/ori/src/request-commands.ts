import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from './session/context.ts';
import type { Profile } from './session/profile.ts';
import {
  API_HELP,
  CALL_HELP,
  DOCTOR_CALL_HELP,
  HEADERS_HELP,
  MCP_HELP,
  PROXY_HELP,
  SIGN_HELP,
} from './text/help.ts';

/** The commands that sign, send and examine requests to interns. */
export function declareRequests(
  program: Command,
  { context, profile }: { readonly context: () => Context; readonly profile: () => Profile },
  wrapped: (text: string) => string,
): void {
  program.commandsGroup('Sign requests of other programs:');
  takingBody(program.command('sign'))
    .description('print the proof headers for a request that another program will send')
    .option('--path <path>', 'path of the request, exactly as it will be sent')
    .option('--body-sha256 <hex>', 'SHA-256 of the request body, instead of the body')
    .addHelpText('after', wrapped(SIGN_HELP))
    .action(async (intern, options) => (await import('./commands/sign.ts')).sign(profile(), intern, options));
  program
    .command('token')
    .description('print an access token for another program')
    .action(async () => (await import('./commands/headers.ts')).token(profile()));
  withBody(program.command('headers'))
    .description('print the headers that authorize one API request of another program')
    .argument('<method>', 'method of the request, such as POST')
    .argument('<url>', 'address of the request')
    .addHelpText('after', wrapped(HEADERS_HELP))
    .action(async (method, url, options) =>
      (await import('./commands/headers.ts')).headers(profile(), method, url, options),
    );
  program.commandsGroup('Make requests:');
  program
    .command('api')
    .description('make any request to the API, and print the JSON that it answers')
    .argument('<path>', 'path below the base address, such as /interns')
    .option('-X, --method <method>', 'method (GET, or POST with --data or --field)')
    .option(
      '-f, --field <name=value>',
      'member of the body, with GET or --paginate parameter of the query; may be repeated',
      collect,
    )
    .option('-d, --data <json>', 'body')
    .option('--paginate', 'print the records of all pages of a list')
    .option('--jq <filter>', 'print what jq makes of the answer, without quotation marks')
    .option('-i, --include', 'also print status and headers of the answer')
    .option('-H, --header <header>', "another header, 'Name: value'; may be repeated", collect)
    .addHelpText('after', wrapped(API_HELP))
    .action(async (path, options) => (await import('./commands/api.ts')).api(profile(), path, options));
  takingCall(program.command('call'))
    .description('sign a request and send it to the daemon of an intern')
    .option('-i, --include', 'also print status and headers of the answer')
    .option('-o, --output <file>', 'write the body of the answer to a file')
    .addHelpText('after', wrapped(CALL_HELP))
    .action(async (intern, path, options) =>
      (await import('./commands/call.ts')).call(profile(), intern, path, options),
    );
  takingTarget(program.command('proxy').argument('<intern>', 'id or name of the intern'))
    .description('sign what other programs send to a local address')
    .option('--port <port>', 'port of 127.0.0.1 (a free one)', parsePort)
    .option('--allow-origin <origin>', 'also let web pages of this origin use it; may be repeated', collect)
    .addHelpText('after', wrapped(PROXY_HELP))
    .action(async (intern, options) =>
      (await import('./proxy/command.ts')).proxy(profile(), intern, options),
    );
  takingTarget(program.command('mcp').argument('<intern>', 'id or name of the intern'))
    .description('connect an MCP client, by stdin and stdout, to the MCP server of an intern')
    .argument('[path]', 'path of the MCP endpoint (/mcp)')
    .addHelpText('after', wrapped(MCP_HELP))
    .action(async (intern, path, options) =>
      (await import('./mcp/command.ts')).mcp(context(), intern, path, options),
    );
  program.commandsGroup('Look and check:');
  program
    .command('canary')
    .description('sign and verify a synthetic call at each scrape of Prometheus')
    .argument('<intern>', 'id or name of an intern that nobody else uses')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <port>', 'port to listen on', parsePort, 9087)
    .action(async (intern, options) =>
      (await import('./canary/command.ts')).canary(profile(), intern, options),
    );
  const interns = program.command('interns').description('list and show interns');
  interns
    .command('list')
    .alias('ls')
    .description('list the interns that you can see, newest first')
    .option('--status <statuses>', 'only with these statuses, comma-separated')
    .option('--workspace <id>', 'only in this workspace')
    .action(async ({ status, workspace: workspaceId }) =>
      (await import('./commands/interns.ts')).internsList(profile(), { status, workspaceId }),
    );
  interns
    .command('get')
    .alias('show')
    .description('show one intern')
    .argument('<intern>', 'id or name of the intern')
    .action(async (intern) => (await import('./commands/interns.ts')).internsGet(profile(), intern));
  const log = program.command('log').description('check the signing log');
  takingPolicy(log.command('keys'))
    .description('list the keys of an intern in the signing log, by reading all of it')
    .argument('<intern>', 'id or name of the intern')
    .action(async (intern, options) => (await import('./log/keys.ts')).logKeys(profile(), intern, options));
  takingPolicy(takingBody(log.command('verify')))
    .description('verify that the proof of a call is in the signing log')
    .requiredOption('--headers <file>', 'the headers of the proof, as ori sign prints them')
    .requiredOption('--path <path>', 'path of the request')
    .option('--body-sha256 <hex>', 'SHA-256 of the request body, instead of the body')
    .option('--proof <file>', 'a .tlog-proof file to verify offline, instead of asking the log')
    .option('--out <file>', 'write the .tlog-proof file, which verifies offline')
    .action(async (intern, options) =>
      (await import('./log/verify.ts')).logVerify(profile(), intern, options),
    );
  const doctor = program.command('doctor').description('find out why a proof is refused');
  takingCall(doctor.command('call'))
    .description('call a daemon, and report what changed on the way')
    .addHelpText('after', wrapped(DOCTOR_CALL_HELP))
    .action(async (intern, path, options) =>
      (await import('./doctor/command.ts')).doctorCall(profile(), intern, path, options),
    );
}

function takingPolicy(command: Command): Command {
  return command
    .requiredOption('--policy <file>', 'a tlog-policy file: the log, its witnesses, and its quorum')
    .option('--require-ml-dsa', 'refuse checkpoints that are not signed with ML-DSA-44 too');
}

function takingBody(command: Command): Command {
  return withBody(command.argument('<intern>', 'id or name of the intern'));
}

function withBody(command: Command): Command {
  return command
    .option('-d, --data <text>', 'request body, or @FILE to read it from (@- for stdin)')
    .option('--data-raw <text>', 'request body, even if it begins with @')
    .option('--file <file>', 'file to read the request body from (- for stdin)');
}

function takingCall(command: Command): Command {
  return takingTarget(takingBody(command).argument('<path>', 'path of the request, such as /api/invoke'))
    .option('--content-type <type>', 'media type of the body (application/json)')
    .option('-H, --header <header>', "another header, 'Name: value'; may be repeated", collect);
}

function takingTarget(command: Command): Command {
  return command
    .option('--daemon <url>', 'origin of the daemon (ORI_DAEMON_URL)')
    .option('--timeout <seconds>', 'how long the daemon may be silent (300)', parseSeconds);
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** A whole number of seconds. Throws InvalidArgumentError. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,5}$/.test(text) || seconds < 1)
    throw new InvalidArgumentError('Expected a whole number of seconds.');
  return seconds;
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('Expected an integer from 0 to 65535.');
  return port;
}
