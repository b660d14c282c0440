import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startContainerEngine } from './container-engine.ts';
import { dockerEngineInSight } from './containers.ts';
import { findPostgres } from './postgres-binaries.ts';

/**
 * `node test/env/with-container-engine.ts COMMAND [ARGUMENT ...]`: runs the command with an engine for testcontainers
 * that can start a Redis: this machine's Docker engine, else one that container-engine.ts starts and stops.
 * Exits with the command's status, or with 69 (EX_UNAVAILABLE of sysexits.h) and a reason if there is no such engine.
 */
const EX_UNAVAILABLE = 69;
const PROBE = join(import.meta.dirname, 'container-probe.ts');
const PROBE_LIMIT_MS = 180_000;

type Environment = Readonly<Record<string, string>>;

const [program, ...words] = process.argv.slice(2);
if (program === undefined) throw new TypeError('Missing command.');
process.exitCode = await main(program, words);

async function main(program: string, words: readonly string[]): Promise<number> {
  if (!dockerEngineInSight()) say('there is no Docker engine here');
  else if (await canStartRedis({})) return runWith({}, program, words);
  else say('the Docker engine of this machine cannot start a Redis');
  await using engine = await startContainerEngine().catch((error: Error) =>
    say(`cannot start an engine: ${error.message}`),
  );
  if (engine === undefined) return EX_UNAVAILABLE;
  const postgres = findPostgres();
  const environment = { ...engine.environment, ...(postgres && { TEST_BACKEND_POSTGRES: postgres.origin }) };
  if (await canStartRedis(environment)) return await runWith(environment, program, words);
  say('podman runs, and cannot start a Redis that answers');
  return EX_UNAVAILABLE;
}

/** A failure counts only if the engine still works afterwards. */
async function runWith(environment: Environment, program: string, words: readonly string[]): Promise<number> {
  const status = await exitOf(program, words, environment);
  if (status === 0 || (await canStartRedis(environment))) return status;
  say('the engine stopped working while the command ran');
  return EX_UNAVAILABLE;
}

async function canStartRedis(environment: Environment): Promise<boolean> {
  return (await exitOf(process.execPath, [PROBE], environment, PROBE_LIMIT_MS)) === 0;
}

async function exitOf(program: string, words: readonly string[], environment: Environment, limitMs?: number) {
  const child = spawn(program, words, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
    ...(limitMs !== undefined && { timeout: limitMs, killSignal: 'SIGKILL' }),
  });
  const end = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGTERM', end).on('SIGINT', end);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    process.off('SIGTERM', end).off('SIGINT', end);
  }
}

function say(sentence: string): undefined {
  console.error(`container engine: ${sentence}`);
}
