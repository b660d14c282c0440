import process from 'node:process';

/**
 * `node health.mts PORT`: exits with 0 if `/livez` on this machine's ops port answers 200, else with 1. Liveness, not
 * readiness: a service whose Redis is gone gains nothing by being restarted.
 */
const [port] = process.argv.slice(2);
try {
  const answer = await fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(2000) });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
