import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { HttpConnection, isRepeatable } from './http-connection.ts';
import { type Counted, type Counts, readSystemCalls } from './meter.ts';
import { median } from './row.ts';

/** The counts from before and after some calls. */
export interface Lap {
  readonly before: Counts;
  readonly after: Counts;
}

/** Something whose calls are counted. */
export interface Metered {
  /** Makes so many calls, one after another. @returns undefined if one failed because the machine is too slow */
  lap(calls: number, counted: Counted): Promise<Lap | undefined>;
}

/** What one call costs, by name: the lower half of its values, one for each lap. */
export type Costs = Readonly<Record<string, readonly number[]>>;

const WARM_CALLS = 300;
const LAPS = 40;
const CALLS_PER_LAP = 5;
const CALLS_PER_GARBAGE_LAP = 1000;

/**
 * What one call creates and uses. What a process does beside its calls, such as once a second, adds to some laps, and to
 * more of them the slower the machine is: the higher half is left out. Asking for the counts is measured without calls, and
 * subtracted.
 */
export async function measureCosts({ lap }: Metered): Promise<Costs> {
  const costs: Record<string, number[]> = {};
  await lap(WARM_CALLS, 'memory');
  for (const counted of ['memory', 'objects'] as const) {
    await lap(CALLS_PER_LAP, counted);
    const laps = async (calls: number) => {
      const differences: Counts[] = [];
      for (let done = 0; done < LAPS; done++) {
        const counts = await lap(calls, counted);
        if (counts !== undefined) differences.push(subtract(counts));
      }
      // In any other lap garbage was collected.
      return differences.filter(({ bytes = 0 }) => bytes >= 0);
    };
    const [idle, busy] = [await laps(0), await laps(CALLS_PER_LAP)];
    for (const name of Object.keys(busy[0] ?? {})) {
      const asking = median(idle.map((counts) => counts[name] ?? 0));
      const each = busy.map((counts) => ((counts[name] ?? 0) - asking) / CALLS_PER_LAP);
      costs[name] = each.sort((one, other) => one - other).slice(0, Math.ceil(each.length / 2));
    }
  }
  return costs;
}

/** What many calls of optimized code allocate: the bytes of one, and the scavenges of 10,000. */
export async function measureGarbage({ lap }: Metered, laps: number): Promise<Costs> {
  const bytes: number[] = [];
  const scavenges: number[] = [];
  // The first half lets V8 optimize what is called.
  for (let done = 0; done < 2 * laps; done++) {
    const counts = (await lap(CALLS_PER_GARBAGE_LAP, 'garbage'))?.after;
    if (counts === undefined || done < laps) continue;
    bytes.push((counts['bytes'] ?? 0) / CALLS_PER_GARBAGE_LAP);
    scavenges.push(((counts['scavenges'] ?? 0) / CALLS_PER_GARBAGE_LAP) * 10_000);
  }
  return { bytes, scavenges };
}

function subtract({ before, after }: Lap): Counts {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}

/**
 * @param flags of Node
 * @param redis of the server: the commands of all its clients are counted
 */
export function startMeteredServer(
  file: string,
  options: {
    flags: readonly string[];
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    redis?: Redis;
  },
) {
  const meter = join(import.meta.dirname, 'meter-process.ts');
  const child = fork(file, options.args ?? [], {
    execArgv: [...options.flags, '--import', meter],
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { pid = 0 } = child;
  const { redis } = options;
  const read = async (counted: Counted): Promise<Counts> => {
    const answered = once(child, 'message');
    child.send(counted);
    const [counts] = (await answered) as [Counts];
    if (counted !== 'memory') return counts;
    return { ...counts, ...readSystemCalls(pid), ...(redis && (await readRedis(redis))) };
  };
  return {
    /** The first message of the server itself. */
    told: once(child, 'message').then(([message]) => message),
    /** Its calls are these requests, on one connection. */
    async calling(port: number, requestsOf: (count: number) => Promise<readonly string[]>): Promise<Metered> {
      const failed = Promise.withResolvers<never>();
      const connection = await HttpConnection.open(port, failed.reject);
      const send = (request: string) =>
        new Promise<boolean>((resolve, reject) => {
          connection.send(request, (answer) => {
            const isGood = answer.status === 200;
            if (isGood || isRepeatable(answer)) resolve(isGood);
            else reject(new Error(`an answer other than 200:\n${answer.text}`));
          });
        });
      return {
        async lap(calls, counted) {
          const requests = await requestsOf(calls);
          const before = await read(counted);
          let failures = 0;
          for (const request of requests) {
            if (!(await Promise.race([send(request), failed.promise]))) failures += 1;
          }
          const after = await read(counted);
          return failures === 0 ? { before, after } : undefined;
        },
      };
    },
    [Symbol.asyncDispose]: async () => void child.kill('SIGKILL'),
  };
}

async function readRedis(redis: Redis): Promise<Counts> {
  const info = await redis.info('all');
  const sum = (pattern: RegExp) =>
    [...info.matchAll(pattern)].reduce((all, [, count]) => all + Number(count), 0);
  return {
    'Redis commands': sum(/^cmdstat_\w+:calls=(\d+)/gm),
    'Redis bytes': sum(/^total_net_(?:input|output)_bytes:(\d+)/gm),
  };
}
