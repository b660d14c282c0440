import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { turnKey } from '@ori/turns/limiter';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import { findProgram } from '../env/room.ts';
import { startLoad } from './constant-load.ts';
import type { Service } from './service.ts';
import { type ShippedWorld, signingOf, startShippedWorld } from './world.ts';

// Callers do not repeat requests here, so that every lost one is counted.

const PRLIMIT = findProgram('prlimit', ['/usr/bin']);
const PER_SECOND = 40;
/** The number of alternating restarts. Set `ROLLING_RESTARTS` for more. */
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 4);

describe.skipIf(NGINX === undefined)('behind the shipped gateway, of two signers', () => {
  let world: ShippedWorld;
  beforeAll(async () => {
    world = await startShippedWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test(`no request is lost, and none is charged or recorded twice, while they are restarted ${RESTARTS} times in turn`, {
    timeout: 600_000,
  }, async () => {
    const before = await turnsOf(world);
    const load = await startSigning(world);
    for (let restart = 0; restart < RESTARTS; restart++) {
      const signer = world.signers[restart % 2] ?? world.signers[0];
      await signer.stop();
      await signer.start();
    }
    const { answered, refused } = await load.end();
    expect(refused).toEqual([]);
    expect(answered.length).toBeGreaterThan(RESTARTS * 10);
    await expectEachOnce(world, answered);
    expect(await turnsOf(world)).toBe(before + answered.length);
  });

  test.skipIf(PRLIMIT === undefined)(
    'an instance with a full disk loses its traffic to the other and gets it back once there is space',
    async () => {
      const [sick] = world.signers;
      const load = await startSigning(world);
      await linesBeyond(sick, 20);
      setFileSizeMax(sick, '1');
      await said(sick, 'not ready, refusing connections');
      // Requests in flight are answered within a second.
      await pause(1000);
      const before = (await linesOf(sick)).length;
      const lostBefore = load.refused.length;
      await pause(3000);
      const lostWhileOut = load.refused.length - lostBefore;
      expect((await linesOf(sick)).length).toBe(before);
      setFileSizeMax(sick, 'unlimited');
      await said(sick, 'ready again, accepting connections');
      await linesBeyond(sick, before + 20);
      const { answered, refused } = await load.end();
      console.log(
        `disk full: ${answered.length} signed, ${refused.length} refused, ${lostWhileOut} while out`,
      );
      // Requests that met the full disk, or were in flight to it.
      expect(refused.length).toBeLessThanOrEqual(PER_SECOND / 4);
      expect(lostWhileOut).toBe(0);
      await expectEachOnce(world, answered);
    },
  );

  test('without Redis, both keep accepting connections: signings get 500, and key sets can be fetched', async () => {
    const { redis, demo, client, signers } = world;
    await redis.stop();
    const load = await startSigning(world);
    await expect.poll(() => load.refused.length, { timeout: 20_000 }).toBeGreaterThan(3 * PER_SECOND);
    const keys = await client.ask({ path: `/v1/interns/${demo.internId}/daemon/jwks.json` });
    await redis.start();
    const { refused } = await load.end();
    expect(keys.status).toBe(200);
    expect(refused.filter((line) => !line.startsWith('500 '))).toEqual([]);
    const isReady = async () => (await fetch(`http://${signers[0].opsAddress}/readyz`)).ok;
    await expect.poll(isReady, { timeout: 10_000 }).toBe(true);
  });

  test('one that starts without its issuer gets no requests until it can sign', async () => {
    const [, late] = world.signers;
    const load = await startSigning(world);
    await late.stop();
    await world.issuer.stop();
    const heard = late.output.length;
    const started = late.start();
    await said(late, 'not listening yet: dependencies are not ready', heard);
    const before = (await linesOf(late)).length;
    await pause(3000);
    expect((await linesOf(late)).length).toBe(before);
    await world.issuer.start();
    await started;
    await linesBeyond(late, before + 20);
    const { answered, refused } = await load.end();
    console.log(`started without its issuer: ${answered.length} signed, ${refused.length} refused`);
    expect(refused).toEqual([]);
    await expectEachOnce(world, answered);
  });
});

async function startSigning(world: ShippedWorld) {
  const bearer = await world.issuer.token({ expiresInSeconds: 3600 });
  const signing = signingOf(world, '{}', bearer);
  const answered: string[] = [];
  const refused: string[] = [];
  const load = startLoad(PER_SECOND, async () => {
    const answer = await world.client.ask(signing);
    if (answer.status === 200) answered.push(String(answer.headers['x-request-id']));
    else refused.push(`${answer.status} ${answer.bytes}`);
  });
  return {
    refused,
    async end() {
      const outcomes = await load.end();
      for (const outcome of outcomes) if (outcome.status === 'rejected') refused.push(String(outcome.reason));
      return { answered, refused };
    },
  };
}

/** Each answer belongs to one request that was recorded once: nothing was signed twice. */
async function expectEachOnce(world: ShippedWorld, answered: readonly string[]): Promise<void> {
  const recorded = (await world.auditLines()).filter((line) => line.endsWith('}')).map(requestIdOf);
  expect(new Set(recorded).size).toBe(recorded.length);
  const records = new Set(recorded);
  expect(answered.filter((id) => !records.has(id))).toEqual([]);
}

async function turnsOf({ redis, demo }: ShippedWorld): Promise<number> {
  const client = new Redis(redis.url);
  try {
    return Number(await client.get(turnKey('user', demo.userId)));
  } finally {
    client.disconnect();
  }
}

const requestIdOf = (line: string) => (JSON.parse(line) as { requestId: string }).requestId;

async function linesOf({ folder }: Service): Promise<string[]> {
  return (await readFile(join(folder, 'audit.jsonl'), 'utf8')).split('\n').filter(Boolean);
}

async function linesBeyond(service: Service, count: number): Promise<void> {
  await expect.poll(async () => (await linesOf(service)).length, { timeout: 20_000 }).toBeGreaterThan(count);
}

async function said({ output }: Service, sentence: string, from = 0): Promise<void> {
  const heard = () => output.slice(from).some((line) => line.includes(sentence));
  await expect.poll(heard, { timeout: 20_000, interval: 20 }).toBe(true);
}

/** For the process, a file that cannot grow is a full disk. */
function setFileSizeMax({ pid }: Service, bytes: string): void {
  const { status, stderr } = spawnSync(PRLIMIT ?? '', [`--pid=${pid}`, `--fsize=${bytes}:`], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
}
