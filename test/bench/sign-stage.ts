import { type ChildProcess, fork, spawn } from 'node:child_process';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../env/ports.ts';
import { shipped } from '../env/programs.ts';
import { startRedis } from '../env/redis.ts';
import { openRoom, type Room } from '../env/room.ts';
import { SIGN_BODY, startWorld, type World } from '../env/world.ts';
import type { LoadOrder, LoadReport } from './load.ts';
import { startGenerator } from './load-generator.ts';
import { cpuSeconds, pin } from './process-cost.ts';
import type { Bench } from './row.ts';
import { checkPeer, checkProofs } from './sign-checks.ts';

/** A server that signs, and a check of its responses. */
export interface SigningSide {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** @throws Error unless every sampled response is complete and its signatures verify */
  check(samples: readonly string[]): Promise<void>;
  /** The last warning or error of its log. */
  lastError?(): Promise<string>;
}

export interface Measured extends LoadReport {
  readonly cpuMicrosecondsEach: number;
  /** NaN if Redis is not a process of the benchmark. */
  readonly redisCpuMicrosecondsEach: number;
}

export type LoadWish = Pick<LoadOrder, 'seconds' | 'connections'> & Partial<LoadOrder>;

/** The compared servers, each a process on one core; Redis, the load generator and nginx share the other. */
export interface SignStage extends AsyncDisposable {
  readonly world: World;
  readonly ours: SigningSide;
  /** What the contract demands, and nothing more. */
  readonly leastWork: SigningSide;
  /** The bare route: no checks, no store, no record. */
  readonly floor: SigningSide;
  readonly peer: SigningSide;
  /** Starts another floor, which also verifies one signature per request. */
  verifyingFloor(algorithm: string): Promise<SigningSide>;
  /** Complete requests of sessions that the warm signer has seen. */
  readonly requests: readonly string[];
  /** Loads a side and checks its responses. */
  load(side: SigningSide, wish: LoadWish): Promise<Measured>;
}

const SESSIONS = 64;
/** All requests come from one address and are of one account. */
const MANY_AT_ONCE = {
  REQUESTS_IN_FLIGHT_MAX: '4096',
  REQUESTS_IN_FLIGHT_PER_ADDRESS_MAX: '4096',
  REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '4096',
};
/** Longer than all rows together. */
const SESSION_SECONDS = 7200;

export async function openSignStage(bench: Pick<Bench, 'remark'>): Promise<SignStage> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-bench'));
  const redis = stack.use(await startRedis());
  if (redis.pid !== undefined) pin(redis.pid, 'others');
  const world = stack.use(await startWorld({ process: true, redis, environment: MANY_AT_ONCE }));
  const key = privateKeyOf(world.demo.seed);
  await world.signer.stop();
  const ours = await startSignerSide(world, room);
  const startFloor = (facts: readonly string[]) =>
    startNodeSide(room, 'floor', facts, key, (samples) => checkProofs(samples, world));
  const floor = await startFloor([]);
  const leastFacts = [redis.url, join(room.directory, 'least-work.jsonl')];
  const leastWork = await startNodeSide(room, 'least-work', leastFacts, key, (samples) =>
    checkProofs(samples, world),
  );
  const { issuer, baseUrl } = world;
  const peerFacts = [redis.url, issuer.url, baseUrl];
  const peer = await startNodeSide(room, 'peer', peerFacts, key, (samples) => checkPeer(samples, world));
  const generator = startGenerator(room);
  const tokens = await Promise.all(
    Array.from({ length: SESSIONS }, () => issuer.token({ expiresInSeconds: SESSION_SECONDS })),
  );
  const requests = tokens.map((token) => requestBytes(world, token));
  const cpuOfRedis = () => (redis.pid === undefined ? Number.NaN : cpuSeconds(redis.pid));
  const owned = stack.move();

  return {
    ...{ world, ours, leastWork, floor, peer, requests },
    verifyingFloor: (algorithm) => startFloor([algorithm]),
    async load(side, wish) {
      const cpuBefore = cpuSeconds(side.pid);
      const redisCpuBefore = cpuOfRedis();
      const order: LoadOrder = {
        ...{ port: side.port, requests, sampleEvery: 101, ...wish },
      };
      const trouble = async () => (await side.lastError?.()) ?? '';
      const report = await generator(order).catch(async ({ message }: Error) => {
        throw new Error(`${side.name}: ${message}\n${await trouble()}`);
      });
      const { answers, repeats } = report;
      const cpuMicrosecondsEach = ((cpuSeconds(side.pid) - cpuBefore) * 1e6) / answers;
      const redisCpuMicrosecondsEach = ((cpuOfRedis() - redisCpuBefore) * 1e6) / answers;
      if (repeats > 0) {
        bench.remark(
          `${side.name}: ${repeats} requests were sent again beside ${answers} answers; ${await trouble()}`,
        );
      }
      await side.check(report.samples);
      return { ...report, cpuMicrosecondsEach, redisCpuMicrosecondsEach };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const warmed = new WeakSet<SignStage>();

/** Opens the stage: every side is warm, and the signer has seen the sessions. */
export async function warmStage(bench: Bench): Promise<SignStage> {
  const stage = await bench.share(openSignStage);
  if (warmed.has(stage)) return stage;
  warmed.add(stage);
  const { load, ours, leastWork, floor, peer } = stage;
  bench.progress('warming up');
  for (const side of [ours, leastWork, floor, peer]) {
    // Starts with few connections: cold code is slow, and a dependency must answer within 0.2 s.
    await load(side, { seconds: bench.load.seconds / 2, connections: 2 });
    for (let proofs = 0; proofs < bench.warmProofs; ) {
      proofs += (await load(side, bench.load)).answers;
    }
  }
  return stage;
}

/**
 * A signing request as bytes.
 *
 * @param dpopProof for a session bound to a key
 */
export function requestBytes(world: World, token: string, dpopProof?: string): string {
  return [
    `POST /v1/interns/${world.demo.internId}/daemon/sign HTTP/1.1`,
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

/** The signer as it ships, with its log in a file, because nothing here would read a pipe. */
async function startSignerSide(world: World, room: Room): Promise<SigningSide> {
  const { environment }: { environment: Readonly<Record<string, string>> } = world;
  const { SIGNER_PORT: port = '', SIGNER_OPS_PORT: opsPort = '' } = environment;
  const log = join(room.directory, `signer-${port}.log`);
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, [await shipped('signer/ori-signer')], {
    cwd: room.directory,
    stdio: ['ignore', output, output],
    env: { PATH: process.env['PATH'] ?? '', HOME: room.directory, ...environment },
  });
  const side = admitted(child, room);
  while (!(await isReady(opsPort))) await pause(20);
  pin(side, 'servers');
  const check = (samples: readonly string[]) => checkProofs(samples, world);
  return { name: 'signer', port: Number(port), pid: side, check, lastError: () => lastErrorIn(log) };
}

/** The log is written shortly after the response. */
async function lastErrorIn(log: string): Promise<string> {
  await pause(100);
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.findLast((line) => !line.includes('"level":"info"') && line !== '') ?? '';
}

const isReady = (opsPort: string) =>
  fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );

async function startNodeSide(
  room: Room,
  name: 'least-work' | 'floor' | 'peer',
  facts: readonly string[],
  key: KeyObject,
  check: SigningSide['check'],
): Promise<SigningSide> {
  const port = await freePort();
  const pkcs8 = key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const file = join(import.meta.dirname, 'sides', `${name}.ts`);
  const child = fork(file, [String(port), pkcs8, ...facts]);
  const pid = admitted(child, room);
  await once(child, 'message');
  pin(pid, 'servers');
  return { name, port, pid, check };
}

function admitted(child: ChildProcess, room: Room): number {
  room.admit(child, 'KILL');
  if (child.pid === undefined) throw new Error('a server of the benchmark did not start');
  return child.pid;
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  return createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' });
}
