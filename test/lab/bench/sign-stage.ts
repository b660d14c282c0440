import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRedis } from '../../env/redis.ts';
import { openRoom } from '../../env/room.ts';
import { SIGN_BODY, startWorld, type World } from '../../env/world.ts';
import type { LoadOrder, LoadReport } from './load.ts';
import { cpuSeconds, pin, startServer, startShipped, startWorker } from './processes.ts';
import type { Bench } from './row.ts';
import { checkProofs } from './sign-checks.ts';

/** A server that signs, and a check of its responses. */
export interface SigningSide {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** @throws Error unless every sampled response is complete and its signatures verify */
  check(samples: readonly string[], world: World): Promise<void>;
}

export interface Measured extends LoadReport {
  readonly cpuMicrosecondsEach: number;
  readonly redisCpuMicrosecondsEach: number;
}

export type LoadWish = Pick<LoadOrder, 'seconds' | 'connections'> & Partial<LoadOrder>;

export type SignStage = Awaited<ReturnType<typeof openSignStage>>;

const SESSIONS = 64;
/** All requests come from one address and are of one account. */
const MANY_AT_ONCE = {
  REQUESTS_IN_FLIGHT_MAX: '4096',
  REQUESTS_IN_FLIGHT_PER_ADDRESS_MAX: '4096',
  REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '4096',
};
/** Longer than all rows together. */
const SESSION_SECONDS = 7200;

/**
 * The compared servers, each a process on one core; Redis, the load generator and nginx share the other. Every side is warm,
 * and the signer has seen the sessions of the requests that `load` sends by default.
 */
async function openSignStage(bench: Bench) {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-bench'));
  const redis = stack.use(await startRedis());
  pin(redis.pid, 'others');
  const world = stack.use(await startWorld({ process: true, redis, environment: MANY_AT_ONCE }));
  await world.signer.stop();
  const { pid, log } = await startShipped(room, 'signer/ori-signer', world.environment);
  const isUp = () =>
    world.page('/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isUp())) await pause(20);
  const signer = { name: 'signer', port: Number(new URL(world.baseUrl).port), pid, check: checkProofs };
  const pkcs8 = pkcs8Of(world.demo.seed);
  const start = async (name: string, facts: readonly string[]) => {
    const server = stack.use(await startServer(name, 'servers', [pkcs8, ...facts]));
    return { ...server, name, check: checkProofs };
  };
  // What the contract demands, and nothing more.
  const leastWork = await start('least-work', [redis.url, join(room.directory, 'least-work.jsonl')]);
  // The bare route: no checks, no store, no record.
  const floor = await start('floor', []);
  const generator = stack.use(startWorker<LoadOrder, LoadReport>('load-process.ts', 'others'));
  const sessions = { length: SESSIONS };
  const tokens = Array.from(sessions, () => world.token({ expiresInSeconds: SESSION_SECONDS }));
  const requests = (await Promise.all(tokens)).map((token) => requestBytes(world, token));

  /** Loads a side and checks its responses. */
  const load = async (side: SigningSide, wish: LoadWish): Promise<Measured> => {
    const cpu = () => [cpuSeconds(side.pid), cpuSeconds(redis.pid)] as const;
    const [before, redisBefore] = cpu();
    const lastError = async () => (side.pid === pid ? lastErrorIn(log) : '');
    const order = { port: side.port, requests, sampleEvery: 101, ...wish };
    const report = await generator.ask(order).catch(async (error: Error) => {
      throw new Error(`${side.name}: ${error.message}\n${await lastError()}`);
    });
    const { answers, repeats, samples } = report;
    const [after, redisAfter] = cpu();
    if (repeats > 0) {
      const beside = `${repeats} requests were sent again beside ${answers} answers`;
      bench.remark(`${side.name}: ${beside}; ${await lastError()}`);
    }
    await side.check(samples, world);
    const each = (seconds: number) => (seconds * 1e6) / answers;
    return {
      ...report,
      cpuMicrosecondsEach: each(after - before),
      redisCpuMicrosecondsEach: each(redisAfter - redisBefore),
    };
  };

  bench.progress('warming up');
  for (const side of [signer, leastWork, floor]) {
    // Starts with few connections: cold code is slow, and a dependency must answer within 0.2 s.
    await load(side, { seconds: bench.load.seconds / 2, connections: 2 });
    for (let proofs = 0; proofs < bench.warmProofs; ) proofs += (await load(side, bench.load)).answers;
  }
  const owned = stack.move();
  return {
    world,
    ours: signer,
    leastWork,
    floor,
    load,
    /** Starts another floor, which also verifies one signature per request. */
    verifyingFloor: async (algorithm: string): Promise<SigningSide> => {
      const server = owned.use(await startServer('floor', 'servers', [pkcs8, algorithm]));
      return { ...server, name: `floor and ${algorithm}`, check: checkProofs };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The stage, which all rows share. */
export const warmStage = (bench: Bench): Promise<SignStage> => bench.share(openSignStage);

/**
 * A signing request as bytes.
 *
 * @param dpopProof for a session bound to a key
 */
export function requestBytes(world: World, token: string, dpopProof?: string): string {
  return [
    `POST ${world.signPath} HTTP/1.1`,
    `Host: ${new URL(world.baseUrl).host}`,
    ...(dpopProof === undefined
      ? [`Authorization: Bearer ${token}`]
      : [`Authorization: DPoP ${token}`, `DPoP: ${dpopProof}`]),
    'Content-Type: application/json',
    `Content-Length: ${SIGN_BODY.length}`,
    '',
    SIGN_BODY,
  ].join('\r\n');
}

/** The last warning or error, which is written shortly after the response. */
async function lastErrorIn(log: string): Promise<string> {
  await pause(100);
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.findLast((line) => !line.includes('"level":"info"') && line !== '') ?? '';
}

/** The seed as a private key: PKCS #8, DER, in base64. */
export function pkcs8Of(seed: Uint8Array): string {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  return Buffer.concat([prefix, seed]).toString('base64');
}
