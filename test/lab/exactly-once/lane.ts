import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Checker, judgeRecovery } from './checker.ts';
import { processorWaitMs } from './processor-wait.ts';
import { createPool } from './proofs.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';
import { NO_ERROR, type Restart, type Stage, type World } from './stage.ts';
import { startVerifier, type VerifierHandle } from './verifier-handle.ts';
import type { VerifierTask } from './verifier-process.ts';

/** What all lanes of a run have in common. */
export interface CommonOptions {
  /** Folder of the verifier library's sources. */
  readonly library: string;
  readonly callers: number;
  readonly adversaries: number;
  /** The maximum duration of a recovery: a store that still refuses after this time without a fault has failed. */
  readonly recoveryMsMax?: number;
}

/** A lane is a world with its verifier processes, in which schedules run one after another. */
export interface LaneOptions extends CommonOptions {
  readonly name: string;
  readonly internId: string;
  readonly world: World;
  readonly checker: Checker;
  readonly random: Random;
  readonly folder: string;
  readonly verifiers: number;
  readonly clockToleranceSeconds: number;
}

export interface Outcome {
  readonly schedule: Schedule;
  /** From the fault's end until every verifier had accepted a fresh proof. */
  readonly recoveryMs: number;
  /** The longest time that a verifier was ready to run and had no processor during the recovery. */
  readonly waitedMs: number;
}

/** How long to wait for a recovery: long enough to distinguish a late one from a missing one. */
const PATIENCE_MS = 45_000;
const LOOK_MS = 20;
const RECOVERY_MS_MAX = 5000;
const RECORD_MAX = 1000;
/** Processes of one world differ in the maximum age of a proof, and so in how long it must be remembered. */
const AGES = [60, 600] as const;

export async function openLane(options: LaneOptions) {
  const { name, internId, world, checker, random, folder } = options;
  const keySeed = Buffer.from(Array.from({ length: 32 }, () => random.below(256))).toString('hex');
  const verifiers: VerifierHandle[] = [];
  /** Processes that have ended; part of their history may still be unread. */
  const past: VerifierHandle[] = [];
  /** The verdicts on fresh proofs from the end of the last fault until the recovery. */
  const refusals = new Map<string, number>();
  const record = createPool(RECORD_MAX);
  const ages = random.shuffle(AGES);
  let started = 0;
  let clock = NO_ERROR;

  async function start(index: number, change: Restart = {}): Promise<VerifierHandle> {
    const { store = world.store, clockErrorMs = 0, maxAgeSeconds = ages[index % ages.length] ?? 60 } = change;
    const tag = `${name}-${started++}`;
    const { library, callers, adversaries, clockToleranceSeconds } = options;
    const task: VerifierTask = {
      tag,
      library,
      internId,
      keySeed,
      maxAgeSeconds,
      clockToleranceSeconds,
      callers,
      adversaries,
      store,
      seed: `${random.next()}`,
      history: join(folder, `${tag}.history`),
      clock: { ...clock, errorMs: clockErrorMs },
    };
    const verifier = await startVerifier(task, (proofs, from) => {
      for (const proof of proofs) record.add(proof);
      for (const other of verifiers) if (other !== from) other.tell({ order: 'hear', proofs });
    });
    // The adversary's record outlives every process.
    verifier.tell({ order: 'hear', proofs: record.last(RECORD_MAX).reverse() });
    verifier.tell({ order: 'worst moment' });
    return verifier;
  }

  /** Reads every history. Returns the verifiers that have accepted a fresh proof sent after `sinceMs`, and when. */
  function look(schedule: number, sinceMs = Number.POSITIVE_INFINITY): Map<string, number> {
    const well = new Map<string, number>();
    for (const { tag, news } of [...past, ...verifiers]) {
      for (const presentation of news()) {
        checker.see(tag, presentation, schedule);
        const { kind, verdict, sentMs, answeredMs } = presentation;
        if (kind === 'fresh' && verdict !== 'accepted' && sentMs >= sinceMs) {
          refusals.set(verdict, (refusals.get(verdict) ?? 0) + 1);
        }
        if (kind === 'fresh' && verdict === 'accepted' && sentMs >= sinceMs && !well.has(tag))
          well.set(tag, answeredMs);
      }
    }
    return well;
  }

  /** No fault may end a verifier process. One that exits by itself is reported and replaced. */
  async function replaceEnded(schedule: number): Promise<void> {
    for (const [index, verifier] of verifiers.entries()) {
      if (!verifier.hasEnded) continue;
      checker.fail('a verifier exited unexpectedly', schedule, `${verifier.tag}; why is on standard error`);
      past.push(verifier);
      verifiers[index] = await start(index);
    }
  }

  const waits = (): Map<string, number> =>
    new Map(verifiers.map(({ tag, pid }) => [tag, processorWaitMs(pid)]));

  /** Waits until every verifier accepts again. Resolves with the time at which the last one did, or undefined. */
  async function recovery(schedule: number, sinceMs: number): Promise<number | undefined> {
    const well = new Map<string, number>();
    refusals.clear();
    while (Date.now() < sinceMs + PATIENCE_MS) {
      for (const [tag, atMs] of look(schedule, sinceMs)) if (!well.has(tag)) well.set(tag, atMs);
      await replaceEnded(schedule);
      if (verifiers.every(({ tag }) => well.has(tag)))
        return Math.max(...verifiers.map(({ tag }) => well.get(tag) ?? 0));
      await pause(LOOK_MS);
    }
    return undefined;
  }

  function stageOf(
    schedule: Schedule,
    unsafe: { verifier: string; fromMs: number; untilMs: number }[],
  ): Stage {
    const tellAll = (order: Parameters<VerifierHandle['tell']>[0]): void => {
      for (const verifier of verifiers) verifier.tell(order);
    };
    const drawn = random.derive(`fault ${schedule.number}`);
    const stage: Stage = {
      random: drawn,
      verifiers,
      pause: async (ms) => {
        const untilMs = Date.now() + ms;
        for (;;) {
          look(schedule.number);
          const left = untilMs - Date.now();
          if (left <= 0) return;
          await pause(Math.min(left, 100));
        }
      },
      worst: () => tellAll({ order: 'worst moment' }),
      async restart(index, change) {
        const former = verifiers[index];
        if (!former) throw new Error(`no verifier ${index}`);
        await former.kill();
        past.push(former);
        const next = await start(index, change);
        verifiers[index] = next;
      },
      clock: (index, errorMs) => verifiers[index]?.tell({ order: 'clock', clock: { ...clock, errorMs } }),
      sleep(ms) {
        clock = { ...clock, sleptMs: clock.sleptMs + ms };
        tellAll({ order: 'clock', clock });
      },
      unsafe(indexes = verifiers.map((_, index) => index)) {
        const windows = indexes.map((index) => ({
          verifier: verifiers[index]?.tag ?? '',
          fromMs: Date.now(),
          untilMs: Number.POSITIVE_INFINITY,
        }));
        unsafe.push(...windows);
        return () => {
          for (const window of windows) window.untilMs = Date.now();
        };
      },
      async refuses(lowMs, highMs, indexes) {
        const safe = stage.unsafe(indexes);
        stage.worst();
        await stage.pause(drawn.between(lowMs, highMs));
        safe();
      },
      async moveAll(url) {
        for (const index of drawn.shuffle([...verifiers.keys()])) {
          stage.goTo(url, index);
          await stage.pause(drawn.between(0, 250));
        }
      },
      goTo: (url, index) => {
        const those = index === undefined ? verifiers : verifiers.slice(index, index + 1);
        for (const verifier of those) verifier.tell({ order: 'go to', url });
      },
      strip: (stripping) => tellAll({ order: 'strip', stripping }),
    };
    return stage;
  }

  const indexes = Array.from({ length: options.verifiers }, (_, index) => index);
  verifiers.push(...(await Promise.all(indexes.map((index) => start(index)))));
  const firstMs = await recovery(-1, Date.now());
  let calmFromMs = firstMs ?? Number.POSITIVE_INFINITY;
  if (firstMs === undefined)
    checker.fail('no recovery in time', -1, `${name}: nothing is accepted before the first fault`);

  return {
    name,
    async run(schedule: Schedule): Promise<Outcome> {
      const unsafe: { verifier: string; fromMs: number; untilMs: number }[] = [];
      const stage = stageOf(schedule, unsafe);
      const fault = world.faults[schedule.fault];
      if (!fault) throw new Error(`${name} has no fault ${schedule.fault}`);
      await stage.pause(schedule.calmMs);
      const faultFromMs = Date.now();
      stage.worst();
      await fault(stage);
      stage.worst();
      await replaceEnded(schedule.number);
      const faultUntilMs = Date.now();
      const before = waits();
      const recoveredMs = await recovery(schedule.number, faultUntilMs);
      const waitedMs = Math.max(...[...waits()].map(([tag, ms]) => ms - (before.get(tag) ?? 0)));
      const recoveryMs = (recoveredMs ?? Number.POSITIVE_INFINITY) - faultUntilMs;
      const late = judgeRecovery({ recoveryMs, waitedMs }, options.recoveryMsMax ?? RECOVERY_MS_MAX);
      if (late) {
        const told = JSON.stringify(Object.fromEntries(refusals));
        const detail = `${schedule.fault}: ${recoveredMs === undefined ? 'not' : `after ${recoveryMs} ms`}, ${Math.round(waitedMs)} ms without a processor; until then ${told}`;
        checker.fail(late, schedule.number, detail);
      }
      await stage.pause(schedule.calmMs / 2);
      const overMs = Date.now();
      const stages = { faultFromMs, faultUntilMs, recoveredMs: recoveredMs ?? overMs, overMs };
      checker.conclude({ schedule: schedule.number, calmFromMs, unsafe, ...stages });
      calmFromMs = recoveredMs === undefined ? Number.POSITIVE_INFINITY : overMs;
      for (const { close } of past.splice(0)) close();
      return { schedule, recoveryMs, waitedMs };
    },
    async close(): Promise<void> {
      await Promise.all(verifiers.map((verifier) => verifier.kill()));
      look(-1);
      for (const { close } of verifiers) close();
      await world[Symbol.asyncDispose]();
    },
  };
}

export type Lane = Awaited<ReturnType<typeof openLane>>;
