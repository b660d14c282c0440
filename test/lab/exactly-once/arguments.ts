import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { CLOCKED_STORES, type ClockedStoreName } from './clocked-stores.ts';
import { ROUNDS, SETTINGS, type StoreName } from './repertoire.ts';
import { VARIANTS } from './variants.ts';

/** A broken guard counts as missed if it is not detected within this many schedules. */
export const VARIANT_SCHEDULES_MAX = 40;

/** The options of a run. */
export interface RunArguments {
  readonly seed: string;
  readonly stores: readonly StoreName[];
  /** Per store. Undefined: as many as each store needs. */
  readonly schedules: number | undefined;
  /** Each fault once, within the time limit. */
  readonly quick: boolean;
  readonly minutes: number;
  readonly faults: readonly string[] | undefined;
  readonly variant: string | undefined;
  /** Those of the stores whose clocks step, and the spends of each meanwhile. */
  readonly clocks: readonly (readonly [store: ClockedStoreName, spends: number])[];
  /** Only the calls over connections that are cut, this many per store. */
  readonly answers: number | undefined;
  /** Nothing but the stepping clocks. */
  readonly clocksOnly: boolean;
}

const names = (of: object): string => Object.keys(of).join(', ');

export const USAGE = `npm run faults -- [options]

Breaks the replay stores in every way it knows, with several verifier processes at work and every proof replayed, and looks for a
proof that was accepted twice, one accepted by a store that may not work, and a store that does not work again within 5 s.
The last line is the verdict. Exit status: 0 passed, 1 failed, 2 not understood.

  --store NAME      one of ${names(SETTINGS)}; may be repeated; all by default
  --quick           each fault once, all stores within 5 minutes
  --minutes M       no schedule begins later, shared by the stores; 240 by default
  --schedules N     per store; by default each fault ${ROUNDS} times, and at least 500 for Redis, memory and PostgreSQL
  --fault NAME      stages only this one; may be repeated; a name that is none lists those there are
  --seed TEXT       of an earlier run, for the same schedules and choices
  --clocks N        only spends, N in each of ${names(CLOCKED_STORES)}, while clocks step back and forth
  --answers N       only N calls to a daemon of each of memory, redis and postgres over connections that are cut
  --variant NAMES   the library with a guard broken, which must be caught within ${VARIANT_SCHEDULES_MAX} schedules; all, or some of
${Object.keys(SETTINGS).map(variantsOf).filter(Boolean).join('\n')}`;

function variantsOf(store: string): string {
  const those = Object.entries(VARIANTS).filter(([, variant]) => variant.store === store);
  return those.map(([name, { guard }]) => `                      ${name.padEnd(26)}${guard}`).join('\n');
}

/** Undefined if help was requested. @throws TypeError with a message for the user */
export function readArguments(argv: readonly string[]): RunArguments | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string' },
      store: { type: 'string', multiple: true },
      schedules: { type: 'string' },
      minutes: { type: 'string' },
      quick: { type: 'boolean', default: false },
      fault: { type: 'string', multiple: true },
      variant: { type: 'string' },
      clocks: { type: 'string' },
      answers: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const stores = (values.store ?? Object.keys(SETTINGS)).map((name) => {
    if (Object.hasOwn(SETTINGS, name)) return name as StoreName;
    throw new TypeError(`--store: expected one of ${names(SETTINGS)}, got ${JSON.stringify(name)}`);
  });
  const { variant, quick } = values;
  const clocked = (Object.keys(CLOCKED_STORES) as ClockedStoreName[]).filter((name) => stores.includes(name));
  const spends = positive('--clocks', values.clocks);
  if (spends !== undefined && clocked.length === 0) {
    throw new TypeError(`--clocks: expected a store of ${names(CLOCKED_STORES)}`);
  }
  if (
    variant !== undefined &&
    variant !== 'all' &&
    !variant.split(',').every((name) => Object.hasOwn(VARIANTS, name))
  ) {
    throw new TypeError(`--variant: expected all or some of ${names(VARIANTS)}`);
  }
  return {
    seed: values.seed ?? randomBytes(4).toString('hex'),
    stores,
    schedules: positive('--schedules', values.schedules),
    quick,
    minutes: positive('--minutes', values.minutes) ?? (quick ? 4 : 240),
    faults: values.fault,
    variant,
    clocks:
      spends === undefined && values.fault !== undefined
        ? []
        : clocked.map((name) => {
            const { spends: all, spendsQuick } = CLOCKED_STORES[name];
            return [name, spends ?? (quick ? spendsQuick : all)] as const;
          }),
    answers: positive('--answers', values.answers),
    clocksOnly: spends !== undefined,
  };
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new TypeError(`${name}: expected a number above 0, got ${JSON.stringify(text)}`);
}
