import { hash } from 'node:crypto';
import { REDIS_SCRIPTS } from './scripts.ts';

/** A server, or a cluster by its primaries. */
interface ScriptHolder {
  call(command: string, ...args: string[]): Promise<unknown>;
  nodes?(role: 'master'): Pick<ScriptHolder, 'call'>[];
}

/**
 * Loads all scripts of the Redis store, on every primary of a cluster. The signer does this whenever it connects, so that a daemon's
 * Redis user needs neither SCRIPT nor EVAL.
 */
export async function loadRedisScripts(redis: ScriptHolder): Promise<void> {
  const servers = redis.nodes?.('master') ?? [redis];
  const sources = Object.values(REDIS_SCRIPTS);
  await Promise.all(
    servers.flatMap((server) => sources.map((source) => server.call('SCRIPT', 'LOAD', source))),
  );
}

/** The signer's reservation of a nonce, which a redeeming daemon requires. */
export function issuedKey(internId: string, nonce: string): string {
  return `ori:{${internId}}:issued:${nonce}`;
}

/** The value of a reservation: the SHA-256 of the version 2 signing input, in base64url. */
export function issuedValue(signingInput: Uint8Array): string {
  return hash('sha256', signingInput, 'base64url');
}
