import { access, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { explainSystemError, systemErrorCode } from '@ori/faces/system-error';
import { CliError } from '../../core/errors.ts';
import { filesInDump } from './dump.ts';
import { filesMatching, isPattern, matcherOf } from './glob.ts';
import { type Directive, parseConfiguration } from './parser.ts';

/** More than any gateway has; stops includes that multiply. */
const DIRECTIVES_MAX = 100_000;
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** A configuration with its includes expanded. */
export interface Configuration {
  readonly directives: readonly Directive[];
  /** Every file that was read, in the order of reading. */
  readonly files: readonly string[];
  /** Included files that do not exist; only with `skipMissing`. */
  readonly missing: readonly string[];
}

export interface ReadingOptions {
  /** Skips included files that do not exist, with which nginx would not start. */
  readonly skipMissing: boolean;
  /** The text of the main file, if it is not on disk, or the whole output of `nginx -T`. */
  readonly text?: string;
}

/**
 * Reads a configuration like nginx: a relative `include` is resolved against the folder of the main file, and wildcards
 * may match nothing. Throws CliError `configuration_unreadable`, and `configuration_malformed` for a file
 * that does not parse or includes itself, and for more than 100,000 directives.
 */
export async function readConfiguration(
  file: string,
  { skipMissing, text }: ReadingOptions = { skipMissing: false },
): Promise<Configuration> {
  const given = text === undefined ? new Map<string, string>() : filesInDump(text, file);
  const [main = file] = given.keys();
  const parsed = new Map<string, readonly Directive[]>();
  const missing = new Set<string>();
  let count = 0;

  async function read(
    file: string,
    within: readonly string[],
    from?: Directive,
  ): Promise<readonly Directive[]> {
    let directives = parsed.get(file);
    if (directives === undefined) {
      directives = parseConfiguration(given.get(file) ?? (await textOf(file, from)), file);
      parsed.set(file, directives);
    }
    return expand(directives, [...within, file]);
  }

  async function expand(
    directives: readonly Directive[],
    within: readonly string[],
  ): Promise<readonly Directive[]> {
    const whole: Directive[] = [];
    for (const directive of directives) {
      count += 1;
      if (count > DIRECTIVES_MAX)
        throw malformed(directive, `there are more than ${DIRECTIVES_MAX} directives`);
      if (directive.name === 'include') whole.push(...(await include(directive, within)));
      else if (directive.block === undefined) whole.push(directive);
      else whole.push({ ...directive, block: await expand(directive.block, within) });
    }
    return whole;
  }

  async function include(directive: Directive, within: readonly string[]): Promise<readonly Directive[]> {
    const [pattern, ...more] = directive.args;
    if (pattern === undefined || more.length > 0) throw malformed(directive, 'include takes one file');
    const whole: Directive[] = [];
    for (const file of await filesOf(directive, pattern)) {
      if (within.includes(file)) throw malformed(directive, `${file} includes itself`);
      const isThere = !skipMissing || given.has(file) || (await exists(file));
      if (isThere) for (const included of await read(file, within, directive)) whole.push(included);
      else missing.add(file);
    }
    return whole;
  }

  async function filesOf(directive: Directive, pattern: string): Promise<string[]> {
    const whole = isAbsolute(pattern) ? pattern : join(dirname(main), pattern);
    if (!isPattern(whole)) return [whole];
    // A dump contains every file that a pattern matched on the machine of nginx.
    if (given.size > 1) return [...given.keys()].filter(matcherOf(whole));
    try {
      return await filesMatching(whole);
    } catch (error) {
      throw unreadable(whole, error, directive);
    }
  }

  const directives = await read(main, []);
  return { directives, files: [...parsed.keys()], missing: [...missing] };
}

function malformed({ file, line }: Directive, why: string): CliError {
  return new CliError('configuration_malformed', { file, line, why });
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ENOENT';
  }
}

async function textOf(file: string, from: Directive | undefined): Promise<string> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > FILE_BYTES_MAX) throw new Error(`it is larger than ${FILE_BYTES_MAX} bytes`);
    return bytes.toString('utf8');
  } catch (error) {
    throw unreadable(file, error, from);
  }
}

function unreadable(file: string, error: unknown, from: Directive | undefined): CliError {
  const place = from === undefined ? {} : { from: { file: from.file, line: from.line } };
  const why = explainSystemError(error);
  return new CliError('configuration_unreadable', { file, why, ...place }, { cause: error });
}
