import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SETTINGS, type StoreName } from './repertoire.ts';
import { VARIANTS } from './variants.ts';

/** What a run was asked for. */
export interface RunArguments {
  readonly seed: string;
  readonly stores: readonly StoreName[];
  /** Per store; undefined: as many as each store needs. */
  readonly schedules: number | undefined;
  readonly minutes: number;
  readonly faults: readonly string[] | undefined;
  readonly variant: string | undefined;
}

export const USAGE = `npm run faults -- [options]
  --store NAME      ${Object.keys(SETTINGS).join(', ')}; may be repeated; all by default
  --schedules N     per store; by default so many that each fault is staged 20 times, and 500 for Redis, memory and PostgreSQL
  --minutes M       no schedule begins later; 240 by default
  --quick           12 schedules per store, within 5 minutes
  --seed TEXT       of an earlier run, for the same schedules and choices
  --fault NAME      stages only this one; may be repeated
  --variant NAME    a library with one guard broken, until it is caught: ${Object.keys(VARIANTS).join(', ')}, or all`;

/** Throws TypeError with a sentence for the one who typed it. */
export function readArguments(argv: readonly string[]): RunArguments {
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
    },
  });
  const stores = (values.store ?? Object.keys(SETTINGS)).map((name) => {
    if (Object.hasOwn(SETTINGS, name)) return name as StoreName;
    throw new TypeError(
      `--store: expected one of ${Object.keys(SETTINGS).join(', ')}, got ${JSON.stringify(name)}`,
    );
  });
  const { variant } = values;
  if (
    variant !== undefined &&
    variant !== 'all' &&
    !variant.split(',').every((name) => Object.hasOwn(VARIANTS, name))
  ) {
    throw new TypeError(`--variant: expected all or some of ${Object.keys(VARIANTS).join(', ')}`);
  }
  return {
    seed: values.seed ?? randomBytes(4).toString('hex'),
    stores,
    schedules: positive('--schedules', values.schedules) ?? (values.quick ? 12 : undefined),
    minutes: positive('--minutes', values.minutes) ?? (values.quick ? 4 : 240),
    faults: values.fault,
    variant,
  };
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new TypeError(`${name}: expected a number above 0, got ${JSON.stringify(text)}`);
}
