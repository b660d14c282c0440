import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NGINX } from '../env/gateway.ts';
import type { Refused, Reply } from '../env/http-client.ts';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { findProgram, openRoom } from '../env/room.ts';
import { type Service, setFileSizeMax } from '../env/service.ts';
import { startLoad } from './constant-load.ts';
import { type Daemon, startDaemon } from './daemon-process.ts';
import { OPERATIONS, type OperatedWorld, operatorOf } from './operations.ts';
import { callWith, type ShippedWorld, signingOf, startShippedWorld } from './world.ts';

const PRLIMIT = findProgram('prlimit', ['/usr/bin']);
const PER_SECOND = 20;
/** Of signings alone. Callers do not repeat them, so that every lost one is counted. */
const SIGNED_PER_SECOND = 40;
const BODY = '{"prompt":"hello"}';

describe.skipIf(NGINX === undefined)('behind the shipped gateway, of two signers', () => {
  const owned = new AsyncDisposableStack();
  let postgres: PostgresServer;
  let world: ShippedWorld;
  let daemon: Daemon;
  beforeAll(async () => {
    postgres = owned.use(await startPostgres());
    world = owned.use(await startShippedWorld({}, {}, {}, postgres));
    daemon = owned.use(await startDaemon(world));
  });
  afterAll(() => owned.disposeAsync());

  test.skipIf(PRLIMIT === undefined)(
    'an instance with a full disk loses its traffic to the other and gets it back once there is space',
    async () => {
      const [sick] = world.signers;
      const load = await startSigning(world);
      await linesBeyond(sick, 20);
      setFileSizeMax(sick, 1);
      await said(sick, 'not ready, refusing connections');
      // Requests in flight are answered within a second.
      await pause(1000);
      const before = (await linesOf(sick)).length;
      const lostBefore = load.refused.length;
      // The gateway tries it again each second.
      await pause(2000);
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
      expect(refused.length).toBeLessThanOrEqual(SIGNED_PER_SECOND / 4);
      expect(lostWhileOut).toBe(0);
      await expectEachOnce(world, answered);
    },
  );

  test('no call fails while each operation is done, but for those that interrupt', {
    timeout: 180_000,
  }, async () => {
    await using stack = new AsyncDisposableStack();
    const { directory: folder } = stack.use(await openRoom('ori-operations'));
    const ring = join(folder, 'signer-kek.json');
    await writeFile(ring, world.kekText, { mode: 0o600 });
    const { client, issuer, managementKey, byokId } = world;
    let signWith: { kid: string } | undefined;
    const newToken = () => issuer.token({ expiresInSeconds: 3600, ...(signWith && { signWith }) });
    let bearer = await newToken();
    const operated: OperatedWorld = {
      ...world,
      postgres,
      folder,
      admin: operatorOf(world, ring),
      published: undefined,
      async signIn(kid) {
        signWith = { kid };
        bearer = await newToken();
      },
    };

    const callDaemon = async () => {
      const signed = await client.ask({ ...signingOf(world, BODY, bearer), again: true });
      if (signed.status !== 200) return `signer: ${sentence(signed)}`;
      const answer = await daemon.client.ask(callWith(signed.json(), BODY));
      return answer.status === 200 ? undefined : `daemon: ${sentence(answer)}`;
    };
    const list = async () => {
      const answer = await client.ask({
        path: `/v1/byok/${byokId}`,
        bearer: managementKey,
        again: true,
      });
      return answer.status === 200 ? undefined : `management: ${sentence(answer)}`;
    };
    let during = '';
    const tally = new Map(OPERATIONS.map(({ name }) => [name, { calls: 0, failures: [] as string[] }]));
    // A new daemon accepts no proofs from before its start.
    await expect.poll(callDaemon, { timeout: 60_000 }).toBeUndefined();
    let sent = 0;
    const load = startLoad(PER_SECOND, async () => {
      const began = during;
      const failure = await (sent++ % 4 === 0 ? list() : callDaemon()).catch(
        (error) => `no answer: ${error.code}`,
      );
      // A call that failed may have begun before the operation that it met.
      const row = tally.get(failure === undefined ? began : during);
      if (row === undefined) return;
      row.calls++;
      if (failure !== undefined) row.failures.push(failure);
    });
    stack.defer(async () => void (await load.end()));

    for (const { name, interrupts, run } of OPERATIONS) {
      during = name;
      bearer = await newToken();
      await run(operated);
      // A daemon that lost its spent proofs refuses those from before.
      if (interrupts) await expect.poll(callDaemon).toBeUndefined();
      await pause(250);
    }
    await load.end();
    const planned = OPERATIONS.filter(({ interrupts }) => !interrupts);
    expect(planned.flatMap(({ name }) => tally.get(name)?.failures ?? [])).toEqual([]);
    // Each was under load.
    expect([...tally.values()].filter(({ calls }) => calls === 0)).toEqual([]);
  });
});

async function startSigning(world: ShippedWorld) {
  const bearer = await world.issuer.token({ expiresInSeconds: 3600 });
  const signing = signingOf(world, '{}', bearer);
  const answered: string[] = [];
  const refused: string[] = [];
  const load = startLoad(SIGNED_PER_SECOND, async () => {
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

const requestIdOf = (line: string) => (JSON.parse(line) as { requestId: string }).requestId;

async function linesOf({ folder }: Service): Promise<string[]> {
  return (await readFile(join(folder, 'audit.jsonl'), 'utf8')).split('\n').filter(Boolean);
}

async function linesBeyond(service: Service, count: number): Promise<void> {
  await expect.poll(async () => (await linesOf(service)).length).toBeGreaterThan(count);
}

async function said({ output }: Service, sentence: string): Promise<void> {
  const heard = () => output.some((line) => line.includes(sentence));
  await expect.poll(heard, { interval: 20 }).toBe(true);
}

/** The status, and the reason if it has one. */
function sentence(answer: Reply): string {
  const { code, metadata } = answer.json<Refused>().error;
  return `${answer.status} ${metadata?.reason ?? code}`;
}
