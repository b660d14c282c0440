import { parseArgs } from 'node:util';
import { signIn } from './sign-in.ts';
import { readState } from './state-file.ts';

const USAGE =
  'npm run --silent token -- --user <name> [--scope "vault:read interns"] [--opaque] [--port 8080]';

/** A failure that the one who typed the command can act on; printed without a stack. */
class Unusable extends Error {}

/** Signs a demo member in at the running standalone and prints the access token, and nothing else, on stdout. */
async function token(): Promise<string> {
  const { user, scope, opaque, port } = readArguments();
  const state = readState(process.cwd(), port);
  if (state === undefined) throw new Unusable('no standalone runs here: start one with `npm start`');
  const names = state.users.map(({ name }) => name);
  if (user === undefined || !names.includes(user)) {
    throw new Unusable(
      `--user: expected one of ${names.join(', ')}${user === undefined ? '' : `, got ${JSON.stringify(user)}`}`,
    );
  }
  const clientId = opaque ? 'ori-cli-opaque' : 'ori-cli';
  const { issuer, baseUrl: resource } = state;
  const { accessToken } = await signIn({ issuer, clientId, resource, user, scope: `openid ${scope}` }).catch(
    (cause) => {
      throw new Unusable(
        `could not sign in at ${issuer} (does the standalone still run?): ${describe(cause)}`,
      );
    },
  );
  return accessToken;
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        user: { type: 'string' },
        scope: { type: 'string', default: 'vault:read interns' },
        opaque: { type: 'boolean', default: false },
        port: { type: 'string' },
      },
    }).values;
  } catch (cause) {
    throw new Unusable(`${describe(cause)}\n${USAGE}`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  process.stdout.write(`${await token()}\n`);
} catch (error) {
  if (!(error instanceof Unusable)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
