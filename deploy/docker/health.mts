import process from 'node:process';

/**
 * `node health.mts NAME PORT`: exits with 0 if `/livez` answers 200 on this machine's ops port, which is the value of
 * the environment variable NAME or else PORT; otherwise exits with 1. Liveness, not readiness: restarting a service
 * does not help if its Redis is down.
 */
const [name = '', fallback] = process.argv.slice(2);
const port = process.env[name] || fallback;
try {
  const ask = (host: string) => fetch(`http://${host}:${port}/livez`, { signal: AbortSignal.timeout(2000) });
  const answer = await Promise.any(['127.0.0.1', '[::1]'].map(ask));
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
