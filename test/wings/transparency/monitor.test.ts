import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { createLogKeys } from '@ori/tlog/log-keys';
import { createMonitor, type MonitorProblem } from '@ori/tlog/monitor';
import { expect, test } from 'vitest';
import { clientOf, openLogWorld, untilSize } from './log-world.ts';
import { type AuditLine, appendLines, auditLine, auditLines } from './signer-lines.ts';

/** `TRANSPARENCY_PROOFS=1000000` is the long run. */
const PROOFS = Number(process.env['TRANSPARENCY_PROOFS'] ?? 2000);

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Proof {
  readonly version: 1 | 2;
  readonly id: string;
}

/** A monitor of a real log, with a clock that tests advance. */
async function openMonitoredLog() {
  const world = await openLogWorld();
  await writeFile(world.auditFile, '');
  let ahead = 0;
  const now = () => Date.now() + ahead;
  let log = await world.start({}, { now });
  const missing: Proof[] = [];
  const problems: MonitorProblem['kind'][] = [];
  const client = clientOf(log);
  const monitor = createMonitor<Proof>({
    client: {
      latest: () => client.latest(),
      lookup: (commitments) => client.lookup(commitments),
      prove: (leaf, head) => client.prove(leaf, head),
      bundle: (index, head) => client.bundle(index, head),
    },
    v1Key: createLogKeys(world.env['LOG_ORIGIN'] ?? '', world.env['LOG_KEY'] ?? '').v1KeyOf('int_1'),
    onMissing: (proof) => void missing.push(proof),
    onProblem: ({ kind }) => void problems.push(kind),
    everyMs: 3_600_000,
    pendingMax: 10_000_000,
    now,
  });
  const port = new URL(log.url).port;
  return {
    world,
    monitor,
    missing,
    problems,
    now,
    accept(line: AuditLine): void {
      monitor.accepted({ version: 2, id: line.line }, hex(line.v2));
    },
    /** Advances the clocks of all parties by some seconds. */
    pass(seconds: number): void {
      ahead += seconds * 1000;
    },
    /** Two checks, each under a checkpoint that is complete up to now. */
    async settle(): Promise<void> {
      for (let round = 0; round < 3; round++) {
        ahead += 7000;
        const due = Math.floor(now() / 1000) - 1;
        for (;;) {
          const head = await client.latest().catch(() => undefined);
          if ((head?.witnessed.get('complete') ?? 0) >= due) break;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await monitor.check();
      }
    },
    stop: () => log.stop(),
    async restart(): Promise<void> {
      log = await world.start({ LOG_PORT: port }, { now });
    },
    async [Symbol.asyncDispose]() {
      await monitor.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

test('a proof of either version that no signer recorded is reported within 60 s, and recorded ones are not', async () => {
  await using monitored = await openMonitoredLog();
  const honest = auditLines(5);
  await appendLines(monitored.world.auditFile, honest);
  honest.forEach(monitored.accept);
  const v1 = auditLine();
  await appendLines(monitored.world.auditFile, [v1]);
  monitored.monitor.accepted({ version: 1, id: 'honest v1' }, sha256(v1.inputV1));
  const since = monitored.now();
  monitored.monitor.accepted({ version: 2, id: 'stolen' }, hex(randomBytes(32)));
  monitored.monitor.accepted({ version: 1, id: 'stolen v1' }, hex(randomBytes(32)));
  await monitored.settle();
  expect(monitored.missing.map(({ id }) => id)).toEqual(['stolen', 'stolen v1']);
  expect(monitored.now() - since).toBeLessThan(60_000);
  await monitored.settle();
  expect(monitored.missing).toHaveLength(2);
});

test(`${PROOFS} honest proofs, with restarts, rotations and a log that is stopped for 10 minutes, raise no alarm`, async () => {
  await using monitored = await openMonitoredLog();
  const { world, monitor } = monitored;
  const batch = Math.min(20_000, Math.ceil(PROOFS / 8));
  for (let done = 0, round = 0; done < PROOFS; done += batch, round++) {
    const lines = auditLines(batch, monitored.now());
    await appendLines(world.auditFile, lines);
    lines.forEach(monitored.accept);
    if (round % 4 === 1) {
      await rename(world.auditFile, `${world.auditFile}-${randomUUID()}`);
      await writeFile(world.auditFile, '');
      monitored.pass(1);
    }
    if (round % 8 === 3) {
      await monitored.stop();
      await monitor.check();
      if (round === 3) {
        for (let minute = 0; minute < 10; minute++) {
          monitored.pass(60);
          await monitor.check();
        }
        expect(monitored.problems).toContain('behind');
      }
      await monitored.restart();
    }
    await monitored.settle();
  }
  await untilSize(clientOf(await restarted(monitored)), PROOFS);
  expect(monitored.missing).toEqual([]);
}, 14_400_000);

async function restarted(monitored: Awaited<ReturnType<typeof openMonitoredLog>>) {
  await monitored.stop();
  return monitored.world.start({}, { now: monitored.now });
}
