import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { memorySpentProofs } from '@ori/identity/dpop/memory-spent-proofs';
import { startManagement } from '@ori/management';
import { createLogger } from '@ori/runtime/log';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { type SignerParts, startSigner } from '@ori/signer';
import { memoryNonces } from '@ori/signer/memory-nonces';
import { signerQueries } from '@ori/store/signer';
import { createMemoryTurnLimiter } from '@ori/turns/memory';
import type { StandaloneConfig } from './config.ts';
import { createDemoData, demoCast } from './demo-data.ts';
import { createDemoRoot } from './demo-root.ts';
import { openFrontDoor } from './front-door.ts';
import { openReplay } from './open-replay.ts';
import { openStore } from './open-store.ts';
import { startOpenIdProvider } from './openid-provider.ts';
import { PortTaken, reservePort } from './reserve-port.ts';
import { startSampleDaemon } from './sample-daemon.ts';
import { managementConfig, signerConfig } from './service-configs.ts';
import type { Stage } from './start-page/play.ts';
import { startRoutes } from './start-page/routes.ts';
import { makeStateFolder, type StandaloneState, writeState } from './state-file.ts';

export interface Standalone extends AsyncDisposable {
  readonly state: StandaloneState;
  readonly stage: Stage;
  /** Unix milliseconds: the daemon accepts proofs signed from then on. */
  readonly acceptsFromMs: number;
  /** Stops everything in the order of dependencies, and removes the state file. A second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts everything in this process: database, OpenID provider, signer, sample daemon, demo data. All of it listens on
 * loopback, and everything in memory is gone at `stop`.
 *
 * @param home the folder in which `.ori` is made
 * @throws PortTaken, RedisUnreachable, MigrationError, ForeignDatabaseError, StoreUnavailable; then nothing is left
 *   running
 */
export async function startStandalone(config: StandaloneConfig, home: string): Promise<Standalone> {
  await using stack = new AsyncDisposableStack();
  const port = await reservePort(config.host, config.port);
  const baseUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}/v1`;
  const cast = demoCast(config.databaseUrl !== undefined);
  const { internId } = cast;
  const jwksUrlOf = (id: string) => `${baseUrl}/interns/${id}/daemon/jwks.json`;
  const jwksUrl = jwksUrlOf(internId);

  const root = createDemoRoot(baseUrl);

  // The daemon first: it refuses proofs signed before its start, and that time passes meanwhile.
  const replay = stack.adopt(await openReplay(config.redisUrl), (opened) => opened.close());
  const daemon = stack.adopt(
    await startSampleDaemon({ internId, jwksUrl, root: root.jwk, replay, port: await neighbour(config, 2) }),
    stopIt,
  );

  const folder = makeStateFolder(home);
  const log = openLog('signer', folder, stack);
  const signerClientSecret = randomBytes(32).toString('base64url');
  const provider = stack.use(
    await startOpenIdProvider({
      users: cast.users,
      resource: baseUrl,
      port: await neighbour(config, 1),
      signerClientSecret,
      onError: (error) => log.error({ err: error }, 'the OpenID provider failed'),
    }),
  );
  const { issuer } = provider;

  const store = stack.adopt(await openStore(config.databaseUrl), (opened) => opened.close());
  const ring = parseKekRing(generateKekRing('signer'));
  // Of analytical alone, so that a daemon of one's own can be greeter's without a key.
  const { makeAnswerKey } = await import('@ori/administration/answer-keys');
  const answerKey = makeAnswerKey();
  const identity = { issuer, sealer: ring, stater: root.stater };
  const demo = await createDemoData(store.owner, cast, { ...identity, answerKey: answerKey.x });

  const analytical = { internId: demo.otherInternId, jwksUrl: jwksUrlOf(demo.otherInternId) };
  const other = stack.adopt(
    await startSampleDaemon({ ...analytical, root: root.jwk, replay, answerKey: answerKey.text, port: 0 }),
    stopIt,
  );

  const place = { baseUrl, issuer, signerClientSecret, folder };
  const parts: Partial<SignerParts> = {
    ring,
    roles: root.roles,
    log,
    store: signerQueries(store.signer),
    ...inMemory(config),
  };
  const signer = stack.adopt(await startSigner(signerConfig(config, place), parts), stopIt);

  const { createReference } = await import('@ori/management/reference');
  const management = stack.adopt(
    await startManagement(managementConfig(config, place), {
      ring: parseKekRing(generateKekRing('management')),
      log: openLog('management', folder, stack),
      database: store.management,
      reference: createReference(baseUrl, { tryAt: '/', internId }),
    }),
    stopIt,
  );
  const address = { baseUrl, host: config.host, port };
  const daemons = {
    greeter: { url: daemon.url, internId },
    analytical: { url: other.url, internId: demo.otherInternId },
  };
  const stage = { baseUrl, issuer, daemons };
  stack.adopt(
    await openFrontDoor(address, { signer, management }, startRoutes({ ...stage, users: cast.users })),
    (door) => door.stop({ graceMs: 1000 }),
  );

  const metrics = { signer: `${signer.opsUrl}/metrics`, management: `${management.opsUrl}/metrics` };
  const state = { baseUrl, issuer, daemonUrl: daemon.url, jwksUrl, root: root.jwk, metrics, ...demo };
  stack.defer(await writeState(home, state));
  const running = stack.move();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= running.disposeAsync();
    return stopped;
  };
  return { state, stage, acceptsFromMs: daemon.acceptsFromMs, stop, [Symbol.asyncDispose]: stop };
}

/** A port next to the API's, the same at each start; 0 if another program uses it. */
async function neighbour({ host, port }: StandaloneConfig, distance: number): Promise<number> {
  const wanted = port + distance;
  if (port === 0 || wanted > 65_535) return 0;
  try {
    return await reservePort(host, wanted);
  } catch (error) {
    if (error instanceof PortTaken) return 0;
    throw error;
  }
}

function inMemory({
  redisUrl,
  limits,
}: StandaloneConfig): Pick<SignerParts, 'turns' | 'nonces' | 'spentProofs'> | undefined {
  if (redisUrl !== undefined) return undefined;
  const { turnsPerUser, turnsPerOrganization, turnWindowSeconds: windowSeconds } = limits;
  const turns = createMemoryTurnLimiter({ turnsPerUser, turnsPerOrganization, windowSeconds });
  return { turns, nonces: memoryNonces(NONCE_KEPT_SECONDS), spentProofs: memorySpentProofs() };
}

/** Longer than any daemon accepts a proof, in seconds. */
const NONCE_KEPT_SECONDS = 65;

const stopIt = (started: { stop(): Promise<void> }) => started.stop();

/** The services log to files, so that the terminal only shows messages of the standalone. */
function openLog(service: 'signer' | 'management', folder: string, stack: AsyncDisposableStack) {
  const file = openSync(join(folder, `${service}.log`), 'a', 0o600);
  stack.defer(() => closeSync(file));
  const write = (line: string) => {
    try {
      writeSync(file, line);
    } catch {
      // A full disk loses lines, and ends nothing.
    }
  };
  return createLogger({ service, level: 'info', destination: { write } });
}
