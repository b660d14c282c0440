import { closest, distance } from 'fastest-levenshtein';
import type { Field } from './fields.ts';
import { readSecretFile, SecretFileError } from './secret-file.ts';
import { VERSION } from './version.ts';

export { choice, type Field, flag, integer, list, path, secret, text, url } from './fields.ts';

export type Spec = Readonly<Record<string, Field<unknown>>>;
export type Config<S extends Spec> = { readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never };
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is invalid. Each problem is one line for the operator. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the configuration is invalid:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** `turnsPerUser` under the prefix `SIGNER` is `SIGNER_TURNS_PER_USER`. */
export function variableName(prefix: string, key: string): string {
  return `${prefix}_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/**
 * Reads a service's whole configuration from the given environment and the files that `<NAME>_FILE` variables name. It
 * changes nothing. An empty variable counts as unset.
 *
 * @throws {ConfigError} with all problems: missing, malformed, set twice, or an unknown name under the prefix.
 */
export function loadConfig<S extends Spec>(prefix: string, spec: S, env: Environment): Config<S> {
  const problems: string[] = [];
  const names = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(spec)) {
    const name = variableName(prefix, key);
    names.add(name);
    if (field.secret) names.add(`${name}_FILE`);
    try {
      values[key] = readField(name, field, env);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(error.message);
    }
  }
  problems.push(...unknownNames(prefix, names, env));
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Config<S>;
}

class Problem extends Error {}

function readField(name: string, field: Field<unknown>, env: Environment): unknown {
  const given = env[name] === '' ? undefined : env[name];
  const value = field.secret ? secretText(name, given, env[`${name}_FILE`] || undefined) : given;
  const parsed = field.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  if (value !== undefined) {
    const hint = value === value.trim() ? '' : ', which has white space at an end';
    throw new Problem(`${name}: expected ${field.expected}, got ${quote(value, field)}${hint}`);
  }
  const way = field.secret ? `${name} or ${name}_FILE` : name;
  throw new Problem(`${way}: required, expected ${field.expected}`);
}

function secretText(name: string, given: string | undefined, file: string | undefined): string | undefined {
  if (file === undefined) return given;
  if (given !== undefined) throw new Problem(`${name} and ${name}_FILE: set one of them, not both`);
  return secretOf(`${name}_FILE`, file);
}

function secretOf(name: string, file: string): string {
  let content: string;
  try {
    content = readSecretFile(file);
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    throw new Problem(`${name}: ${error.message}`);
  }
  const value = content.replace(/\r?\n$/, '');
  if (value === '') throw new Problem(`${name}: ${JSON.stringify(file)} is empty`);
  return value;
}

function quote(value: string, field: Field<unknown>): string {
  // Not quoted: a credential may have been set under the wrong name.
  if (field.secret || /:\/\/[^/]*@/.test(value)) return '[redacted]';
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}

/** The maximum edit distance for suggesting a known name. */
const TYPING_ERRORS_MAX = 3;

function unknownNames(prefix: string, known: ReadonlySet<string>, env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(`${prefix}_`) && !known.has(name))
    .sort()
    .map((name) => {
      const meant = closest(name, [...known]);
      const isNear = distance(name, meant) <= TYPING_ERRORS_MAX;
      return `${name}: unknown name${isNear ? `, did you mean ${meant}?` : `; version ${VERSION} has no such setting, remove it`}`;
    });
}
