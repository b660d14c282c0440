import { readFileSync } from 'node:fs';
import { ROOT } from '../root.ts';

export const UNITS = [
  'ori-signer@.service',
  'ori-management@.service',
  'ori-log.service',
  'ori-guard@.service',
  'ori-migrate.service',
  'ori-rotate-keys.service',
  'ori-audit-export.service',
  'ori-kms-agent@.service',
  'ori-gateway.service',
  'ori-canary.service',
] as const;
export const FOLDER = `${ROOT}deploy/systemd`;

/** The settings of a unit, or the variables of an EnvironmentFile, in order, including repeated ones. */
export function readUnit(name: string): [name: string, value: string][] {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  return [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
}

export const valuesOf = (name: string, key: string): string[] =>
  readUnit(name).flatMap(([each, value]) => (each === key ? value : []));

/** The variables of a file in `examples`. */
export const readEnvironmentFile = (name: string): Record<string, string> =>
  Object.fromEntries(readUnit(`examples/${name}`));

/** The environment of an instance: its files first, then its own lines, with `%i`, `%d`, `%L`, `%S` and `%t` filled in. */
export function environmentOf(
  unit: string,
  places: { i?: string; d: string; L?: string; S?: string; t?: string },
): Record<string, string> {
  const fill = (text: string) =>
    text.replace(/%([idLSt])/g, (_, letter: keyof typeof places) => places[letter] ?? '');
  const files = valuesOf(unit, 'EnvironmentFile').map((file) =>
    readEnvironmentFile(fill(file).replace('/etc/ori/', '')),
  );
  const own = valuesOf(unit, 'Environment').map((line) => fill(line).split('=', 2));
  return Object.assign({}, ...files, Object.fromEntries(own));
}
