import { setTimeout } from 'node:timers/promises';
import { ConfigError } from '@ori/service-kit/config';
import { StoreUnavailable } from '@ori/store';
import { MigrationError } from '@ori/store/migrate';
import { loadStandaloneConfig, type StandaloneConfig } from './config.ts';
import { proveOnce } from './first-proof.ts';
import { RedisUnreachable } from './open-replay.ts';
import { ForeignDatabaseError } from './open-store.ts';
import { PortTaken } from './reserve-port.ts';
import { signIn } from './sign-in.ts';
import { type Standalone, startStandalone } from './standalone.ts';

/** The CLI's own default. */
const DEFAULT_BASE_URL = 'http://127.0.0.1:8080/v1';

/** Failures that say what to do; anything else is a defect, and is shown with its stack. */
const EXPECTED = [
  ConfigError,
  PortTaken,
  RedisUnreachable,
  ForeignDatabaseError,
  MigrationError,
  StoreUnavailable,
];

async function run(): Promise<void> {
  const config = loadStandaloneConfig(process.env);
  console.log('Starting ori standalone: demo data, loopback only.');
  const standalone = await startStandalone(config, process.cwd());
  stopOnSignal(standalone);
  describe(config, standalone);
  await proveFirst(standalone).catch(async (error) => {
    await standalone.stop();
    throw error;
  });
  invite(standalone);
  console.log(`ready: ${standalone.state.baseUrl}`);
}

function describe({ databaseUrl, redisUrl }: StandaloneConfig, { state }: Standalone): void {
  console.log(`
  database  ${databaseUrl === undefined ? 'PGlite, in memory' : 'PostgreSQL at ORI_DATABASE_URL'}
  nonces    ${redisUrl === undefined ? 'in memory' : 'Redis at ORI_REDIS_URL; the daemon redeems them there'}
  sign-in   ${state.issuer}  (${state.users.map(({ name }) => name).join(', ')}; no passwords)
  daemon    ${state.daemonUrl}  (intern ${state.internId})
  files     .ori/standalone.json .ori/audit.log .ori/signer.log .ori/management.log
`);
}

async function proveFirst({ state, acceptsFromMs }: Standalone): Promise<void> {
  const { baseUrl, issuer, daemonUrl, internId } = state;
  const scope = 'openid vault:read';
  const { accessToken } = await signIn({
    issuer,
    clientId: 'ori-cli',
    resource: baseUrl,
    user: 'ada',
    scope,
  });
  console.log('ada signed in: code + PKCE, scope vault:read.');
  await setTimeout(Math.max(0, acceptsFromMs - Date.now()));
  const { user, nonce } = await proveOnce({ baseUrl, daemonUrl, internId, accessToken });
  console.log(`The signer signed POST /api/invoke for ${user}, nonce ${nonce}.`);
  console.log(`The daemon verified it: 200 {"user":"${user}"}.`);
  console.log('The same request again: 401 nonce_replayed.\n');
}

/** What to type next, in another terminal. */
function invite({ state: { baseUrl, daemonUrl, internId } }: Standalone): void {
  const address = baseUrl === DEFAULT_BASE_URL ? '' : `  export ORI_BASE_URL=${baseUrl}\n`;
  console.log(`Now you, in another terminal:

${address}  npx ori login --oidc
  npx ori call ${internId} /api/invoke --daemon ${daemonUrl} --data '{"prompt":"hello"}'
`);
}

function stopOnSignal(standalone: Standalone): void {
  let stopping = false;
  const stop = () => {
    // npm and the terminal may both send the signal.
    if (stopping) return;
    stopping = true;
    standalone.stop().then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
}

function fail(error: unknown): never {
  const expected = EXPECTED.some((known) => error instanceof known);
  console.error(expected && error instanceof Error ? error.message : error);
  process.exit(1);
}

run().catch(fail);
