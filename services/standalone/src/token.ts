import { rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CryptoKeyPair, randomDPoPKeyPair } from 'openid-client';
import { signIn } from './sign-in.ts';
import { readState } from './state-file.ts';

const USAGE =
  'npm run --silent token -- --user <name> [--scope "vault:read interns"] [--opaque] [--dpop <key file>] [--port 8080]';

/** A failure that the user can fix; printed without a stack. */
class Unusable extends Error {}

/** Signs a demo member in at the running standalone and prints only the access token on stdout. */
async function token(): Promise<string> {
  const { user, scope, opaque, dpop, port } = readArguments();
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
  const key = dpop === undefined ? undefined : await keyIn(dpop);
  const session = { issuer, clientId, resource, user, scope: `openid ${scope}`, ...(key && { key }) };
  const { accessToken } = await signIn(session).catch((cause) => {
    throw new Unusable(`could not sign in at ${issuer} (does the standalone still run?): ${describe(cause)}`);
  });
  return accessToken;
}

/** Creates a key to bind the token to, in a file that only its owner can read. */
async function keyIn(file: string): Promise<CryptoKeyPair> {
  const key = await randomDPoPKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', key.privateKey);
  try {
    rmSync(file, { force: true });
    writeFileSync(file, `${JSON.stringify({ kty, crv, x, y, d })}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new Unusable(`--dpop: could not write ${file}: ${describe(cause)}`);
  }
  return key;
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        user: { type: 'string' },
        scope: { type: 'string', default: 'vault:read interns' },
        opaque: { type: 'boolean', default: false },
        port: { type: 'string' },
        dpop: { type: 'string' },
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
