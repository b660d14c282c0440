import process from 'node:process';

/**
 * `node health.mts NAME PORT`: exits with 0 if `/livez` answers 200 on this machine's ops port, which the environment has
 * under NAME or is PORT, else with 1. Liveness, not readiness: a service whose Redis is gone gains nothing by being
 * restarted.
 */
const [name = '', fallback] = process.argv.slice(2);
const port = process.env[name] || fallback;
try {
  const answer = await fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(2000) });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
