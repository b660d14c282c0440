import { isBuiltin } from 'node:module';

/** The part of `process` that is used. */
export interface HardenedProcess {
  /** Absent without the permission model. */
  readonly permission?: { has(scope: string): boolean };
}

export interface HardeningOptions {
  /** Whether the service uses worker threads. */
  readonly workers?: boolean;
}

/** Permissions that Node can grant entirely; grants of single files are separate. */
const GRANTS = {
  'fs.read': 'read every file',
  'fs.write': 'write every file',
  child: 'start processes',
  worker: 'start threads',
  addons: 'load addons',
  wasi: 'run WASI modules',
  inspector: 'open the inspector',
} as const;

/** What this process may do that a hardened service may not, as text for the operator; empty if it is hardened. */
export function weaknessesOf(
  { permission }: HardenedProcess,
  { workers = false }: HardeningOptions = {},
): string[] {
  const granted = Object.entries(GRANTS).filter(
    ([scope]) => !(workers && scope === 'worker') && (permission === undefined || permission.has(scope)),
  );
  return [
    ...granted.map(([, words]) => words),
    ...(makesCodeOfStrings() ? ['generate code from strings'] : []),
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
