import { isBuiltin } from 'node:module';

/** The part of `process` that is looked at. */
export interface HardenedProcess {
  /** Absent where there is no permission model. */
  readonly permission?: { has(scope: string): boolean };
}

export interface HardeningOptions {
  /** The service has threads of its own. */
  readonly workers?: boolean;
}

/** What Node grants as a whole; single files are granted beside it. */
const GRANTS = {
  'fs.read': 'read every file',
  'fs.write': 'write every file',
  child: 'start processes',
  worker: 'start threads',
  addons: 'load addons',
  wasi: 'run WASI modules',
  inspector: 'open the inspector',
} as const;

/** What this process may do although a hardened service may not, in the operator's words; empty when it is hardened. */
export function weaknessesOf(
  { permission }: HardenedProcess,
  { workers = false }: HardeningOptions = {},
): string[] {
  const granted = Object.entries(GRANTS).filter(
    ([scope]) => !(workers && scope === 'worker') && (permission === undefined || permission.has(scope)),
  );
  return [
    ...granted.map(([, words]) => words),
    ...(makesCodeOfStrings() ? ['make code of strings'] : []),
    ...(isBuiltin('node:sqlite') ? ['open SQLite databases'] : []),
    ...('__proto__' in Object.prototype ? ['use __proto__'] : []),
  ];
}

function makesCodeOfStrings(): boolean {
  try {
    Reflect.construct(Function, ['']);
    return true;
  } catch {
    return false;
  }
}
