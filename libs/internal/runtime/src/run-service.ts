import { ConfigError, type Environment, type Spec } from './config.ts';
import { coreFileLimit } from './core-file-limit.ts';
import { describeSettings } from './describe-settings.ts';
import { type HardenedProcess, weaknessesOf } from './hardening.ts';
import { createLogger, type Logger, type LogLevel } from './log.ts';
import { systemErrorCode } from './system-error-code.ts';
import { VERSION } from './version.ts';

/** Exit codes of a service; 0 after a graceful stop. */
const EXIT = { failed: 1, configuration: 2, usage: 64 } as const;

export interface RunnableService<Config extends ProgramConfig> {
  /** Prefix of its environment variables, in upper case. */
  readonly prefix: string;
  /** Its settings, for the command `settings`. */
  readonly settings: Spec;
  /** Whether it uses worker threads, which the hardened start then grants. */
  readonly workers?: boolean;
  /** Reads and validates the whole configuration, including files. @throws ConfigError */
  load(env: Environment): Config;
  /** What a valid configuration leaves open, for `check-config`. */
  readonly leavesOpen?: (config: Config) => readonly string[];
  /** @param log on standard output; its first line says whether the process is hardened */
  start(config: Config, log: Logger): Promise<RunningService>;
  /** Commands that run once instead of the service, by name. @returns the text to print */
  readonly commands?: Readonly<Record<string, (config: Config) => Promise<string>>>;
}

/** The part of a configuration that the main program itself uses. */
export interface ProgramConfig {
  /** Absent for a program without a hardened start. */
  readonly requireHardened?: boolean;
  readonly logLevel: LogLevel;
}

export interface RunningService {
  stop(): Promise<void>;
  /** Called on SIGHUP: reopens rotated files. */
  reopen?(): Promise<void>;
}

/** The part of `process` that a service's main program uses. */
export type Program = Pick<NodeJS.Process, 'argv' | 'env' | 'on' | 'exit'> &
  HardenedProcess & {
    readonly stdout: { write(text: string): unknown };
    readonly stderr: { write(text: string): unknown };
  };

/**
 * The main program of a service: `check-config` reports what a start would refuse and exits, `settings` and `--version` print
 * what they name, an additional command runs once; otherwise the service runs until SIGTERM or SIGINT and stops gracefully, or
 * immediately at a second signal.
 */
export async function runService<Config extends ProgramConfig>(
  program: Program,
  service: RunnableService<Config>,
): Promise<void> {
  const fail = (code: number, error: unknown): never => {
    program.stderr.write(`${messageOf(error)}\n`);
    return program.exit(code);
  };
  const [command, ...rest] = program.argv.slice(2);
  if (command === '--version') {
    program.stdout.write(`${VERSION}\n`);
    return;
  }
  const words = ['check-config', 'settings', ...Object.keys(service.commands ?? {})];
  const usage = `usage: ${program.argv[1]} [${[...words, '--version', '--help'].join(' | ')}]`;
  if (command === '--help') {
    program.stdout.write(`${usage}\n`);
    return;
  }
  if (rest.length > 0 || (command !== undefined && !words.includes(command))) {
    return fail(EXIT.usage, new Error(usage));
  }
  if (command === 'settings') {
    program.stdout.write(describeSettings(service.prefix, service.settings));
    return;
  }
  try {
    const config = service.load(program.env);
    const { prefix, workers = false } = service;
    const weaknesses = weaknessesOf(program, { workers });
    if (config.requireHardened && weaknesses.length > 0) throw notHardened(prefix, weaknesses);
    if (command === 'check-config') {
      const lines = [`the ${prefix}_… configuration is valid`, ...(service.leavesOpen?.(config) ?? [])];
      program.stdout.write(`${lines.join('\n')}\n`);
      return;
    }
    const once = command === undefined ? undefined : service.commands?.[command];
    if (once !== undefined) {
      program.stdout.write(`${await once(config)}\n`);
      return;
    }
    const log = createLogger({ service: nameOf(prefix), level: config.logLevel });
    if (config.requireHardened !== undefined) logHardening(log, weaknesses);
    logCoreFileLimit(log);
    const running = service.start(config, log);
    attend(program, running, fail);
    await running;
  } catch (error) {
    const isPortTaken = systemErrorCode(error) === 'EADDRINUSE' && 'opsPort' in service.settings;
    if (isPortTaken)
      program.stderr.write(`The ports are ${service.prefix}_PORT and ${service.prefix}_OPS_PORT.\n`);
    fail(error instanceof ConfigError ? EXIT.configuration : EXIT.failed, error);
  }
}

const nameOf = (prefix: string) => prefix.toLowerCase().replaceAll('_', '-');

function logHardening(log: Logger, weaknesses: readonly string[]): void {
  if (weaknesses.length === 0) log.info('hardened: the process runs under its permission flags');
  else log.warn({ may: weaknesses }, 'not hardened');
}

function logCoreFileLimit(log: Logger): void {
  const limit = coreFileLimit();
  if (limit !== undefined && limit !== '0') {
    log.warn({ limit }, 'a crash may write the memory of this process, including keys, to a core dump');
  }
}

function notHardened(prefix: string, weaknesses: readonly string[]): ConfigError {
  const entry = `ori-${nameOf(prefix)}.js`;
  return new ConfigError([
    `${prefix}_REQUIRE_HARDENED: this process may ${weaknesses.join(', ')}; start it with ${entry}`,
  ]);
}

function attend(
  program: Program,
  starting: Promise<RunningService>,
  fail: (code: number, error: unknown) => never,
): void {
  let running: RunningService | undefined;
  let stopping = false;
  const started = starting.then(
    (service) => {
      running = service;
    },
    () => undefined,
  );
  const stop = () => {
    // A start may wait for its dependencies indefinitely; no request is in progress yet.
    if (running === undefined) return void program.exit(0);
    if (stopping) program.exit(EXIT.failed);
    stopping = true;
    running.stop().then(
      () => program.exit(0),
      (error: unknown) => fail(EXIT.failed, error),
    );
  };
  program.on('SIGTERM', stop);
  program.on('SIGINT', stop);
  program.on('SIGHUP', async () => {
    // A start that waits for its dependencies has already opened its files.
    await started;
    running?.reopen?.().catch((error: unknown) => program.stderr.write(`${messageOf(error)}\n`));
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown failure';
}
