import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { ConfigError, type Environment } from '@ori/runtime/config';
import { MigrationError } from '@ori/store/migrate';
import { loadStandaloneConfig, type StandaloneConfig } from './config.ts';
import { RedisUnreachable } from './open-replay.ts';
import { ForeignDatabaseError } from './open-store.ts';
import { explainTaken, PortTaken } from './reserve-port.ts';
import { type Standalone, startStandalone } from './standalone.ts';
import { askForProof, sendCall, sessionOf } from './start-page/play.ts';
import { tryNext } from './try-next.ts';

/** Failures whose message says what to do. Any other error is a defect and is printed with its stack. */
const EXPECTED = [
  ConfigError,
  PortTaken,
  RedisUnreachable,
  ForeignDatabaseError,
  MigrationError,
  StoreUnavailable,
];

const SIGN_TRIES = 5;

export interface HostEnvironment {
  readonly env: Environment;
  /** The folder in which `.ori` is created. */
  readonly home: string;
}

/** Starts the standalone, makes one call, and runs until a signal. A failure is reported and ends the process. */
export async function run(host: HostEnvironment): Promise<void> {
  await start(host).catch((error) => fail(explainTaken(error)));
}

async function start({ env, home }: HostEnvironment): Promise<void> {
  const config = loadStandaloneConfig(env);
  say('Starting ori standalone: demo data, loopback only.');
  const standalone = await startStandalone(config, home);
  stopOnSignal(standalone);
  describe(config, standalone);
  await proveFirst(standalone).catch(async (error) => {
    await standalone.stop();
    throw error;
  });
  invite(standalone);
  say(`ready: ${standalone.state.baseUrl}`);
}

function describe({ databaseUrl, redisUrl }: StandaloneConfig, { state }: Standalone): void {
  say(`
  database  ${databaseUrl === undefined ? 'PGlite, in memory' : 'PostgreSQL at ORI_DATABASE_URL'}
  nonces    ${redisUrl === undefined ? 'in memory' : 'Redis at ORI_REDIS_URL; the daemon redeems them there'}
  sign-in   ${state.issuer}  (${state.users.map(({ name }) => name).join(', ')}; no passwords)
  daemon    ${state.daemonUrl}  (intern ${state.internId})
  root      ${state.root.x}  (for daemons to pin)
  files     .ori: standalone.json audit.log signer.log management.log
`);
}

/**
 * Makes one call like a client, and sends exactly the same again.
 *
 * @throws Error unless the daemon answers the first with 200 and refuses the second as `nonce_replayed`
 */
async function proveFirst({ stage, acceptsFromMs }: Standalone): Promise<void> {
  const session = await sessionOf(stage, 'ada', 'vault:read');
  say('ada signed in: code + PKCE, scope vault:read, bound to a key (DPoP).');
  await setTimeout(Math.max(0, acceptsFromMs - Date.now()));
  const request = { path: '/api/invoke', body: '{"prompt":"hello"}' };
  let answer = await askForProof(stage, session, request);
  // The computer is busy while everything starts.
  for (let tries = 1; (answer.status >= 500 || answer.status === 408) && tries < SIGN_TRIES; tries += 1) {
    await setTimeout(1000);
    answer = await askForProof(stage, session, request);
  }
  const { proof } = answer;
  if (proof === undefined) throw new Error(`the signer answered ${inspect(answer)}`);
  const call = { ...request, proof };
  const first = await sendCall(stage.daemons.greeter, call);
  if (first.status !== 200) throw new Error(`the daemon answered ${inspect(first)}`);
  const second = await sendCall(stage.daemons.greeter, call);
  if (second.refusal?.code !== 'nonce_replayed') throw new Error(`a replay was answered ${inspect(second)}`);
  say(`Signed POST /api/invoke for ${proof['x-ori-invoke-user']}, nonce ${proof['x-ori-invoke-nonce']}.`);
  say(`The daemon verified it: 200 ${first.content}.`);
  say('The same request again: 401 nonce_replayed.\n');
}

function invite({ state }: Standalone): void {
  say(`Make calls, and abuse them: ${new URL('/', state.baseUrl)}
API reference: ${state.baseUrl}/docs

Now you, in another terminal:

${tryNext(state)
  .map((line) => `  ${line}`)
  .join('\n')}
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
  // Its reader is gone.
  process.stdout.on('error', stop);
}

function fail(error: unknown): never {
  const expected = EXPECTED.some((known) => error instanceof known);
  process.stderr.write(`${expected && error instanceof Error ? error.message : inspect(error)}\n`);
  process.exit(1);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
