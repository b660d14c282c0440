import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ROUNDS, SCHEDULES_MIN, SETTINGS, type StoreName } from './repertoire.ts';

/** The options of a run. */
export interface RunArguments {
  readonly seed: string;
  readonly stores: readonly StoreName[];
  /** Per store. Undefined: as many as each store needs. */
  readonly schedules: number | undefined;
  /** Each fault once. */
  readonly quick: boolean;
  readonly faults: readonly string[] | undefined;
  /** Only the calls over connections that are cut, this many per store. */
  readonly answers: number | undefined;
  /** Only the shared stores, at a steady rate for this many minutes. */
  readonly soak: number | undefined;
}

const names = (of: object): string => Object.keys(of).join(', ');

export const USAGE = `npm run faults -- [options]

Breaks the replay stores in every way it knows, with several verifier processes at work and every proof replayed, and looks for a
proof that was accepted twice, one accepted by a store that may not work, and a store that does not work again within 5 s.
The last line is the verdict. Exit status: 0 passed, 1 failed, 2 not understood.

  --store NAME      one of ${names(SETTINGS)}; may be repeated; all by default
  --quick           each fault once
  --schedules N     per store; by default each fault ${ROUNDS} times, and at least ${SCHEDULES_MIN}
  --fault NAME      stages only this one; may be repeated; a name that is none lists those there are
  --seed TEXT       of an earlier run, for the same schedules and choices
  --answers N       only N calls to a daemon of each of memory, redis and postgres over connections that are cut
  --soak MINUTES    only 500 calls a second to a pair of Redis servers and one of PostgreSQL servers, beside a held snapshot,
                    connections that fall silent, busy loops and failovers; the longest outage after each may be 2 s`;

/** Undefined if help was requested. @throws TypeError with a message for the user */
export function readArguments(argv: readonly string[]): RunArguments | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string' },
      store: { type: 'string', multiple: true },
      schedules: { type: 'string' },
      quick: { type: 'boolean', default: false },
      fault: { type: 'string', multiple: true },
      answers: { type: 'string' },
      soak: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const stores = (values.store ?? Object.keys(SETTINGS)).map((name) => {
    if (Object.hasOwn(SETTINGS, name)) return name as StoreName;
    throw new TypeError(`--store: expected one of ${names(SETTINGS)}, got ${JSON.stringify(name)}`);
  });
  return {
    seed: values.seed ?? randomBytes(4).toString('hex'),
    stores,
    schedules: positive('--schedules', values.schedules),
    quick: values.quick,
    faults: values.fault,
    answers: positive('--answers', values.answers),
    soak: positive('--soak', values.soak),
  };
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new TypeError(`${name}: expected a number above 0, got ${JSON.stringify(text)}`);
}
