import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Reply } from '../env/http-client.ts';
import { createScanner } from '../leaks/scanner.ts';
import {
  credentialRequests,
  type Evidence,
  oddRequests,
  plantCredentials,
  sendAll,
  sendBound,
} from '../leaks/traffic.ts';
import type { MatrixWorld } from './matrix-world.ts';

export function keepSecrets(on: MatrixWorld) {
  const { world, management, redisDirectly, collector } = on;
  const evidence: Evidence = { canaries: secretsOf(on), refusals: [] };
  const readiness: string[] = [];
  const page = async (url: string) => (await fetch(url)).text();
  const pages = async (path: string) =>
    `${await page(`${world.opsUrl}${path}`)}\n${await page(`http://${management.opsAddress}${path}`)}`;
  const sendCredentials = async (withinMs: number): Promise<Reply[]> => {
    const asks = credentialRequests(world, await plantCredentials(world, evidence));
    const bound = sendBound(world, evidence);
    const others = sendAll(world, asks, evidence, withinMs / asks.length);
    await pause(withinMs / 2);
    readiness.push(await pages('/readyz'));
    return [...(await bound), ...(await others)];
  };
  return {
    /** Sends new credentials of every kind, within so many milliseconds, and keeps what `/readyz` says meanwhile. */
    sendCredentials,
    /** Sends requests of every kind, valid and invalid. */
    async sendEverything(): Promise<Reply[]> {
      const odd = oddRequests(world, await world.token(), evidence);
      return [...(await sendAll(world, odd, evidence)), ...(await sendCredentials(0))];
    },
    /** What was found, and where. */
    async leaks(): Promise<string[]> {
      const pids = `${world.signer.pid},${management.pid}`;
      const places = {
        'the log of the signer': world.signer.output.join('\n'),
        'the log of management': management.output.join('\n'),
        'the audit file': await world.audit(),
        'a metric': await pages('/metrics'),
        'a trace': collector.bodies.join('\n'),
        'a refusal': evidence.refusals.join('\n'),
        readiness: readiness.join('\n'),
        Redis: (await redisDirectly.keys('*')).join('\n'),
        'the process list': execFileSync('ps', ['-ww', '-o', 'args=', '-p', pids], { encoding: 'utf8' }),
      };
      for (const [place, text] of Object.entries(places)) expect(text.length, place).toBeGreaterThan(50);
      expect(places['the log of the signer'].length).toBeGreaterThan(10_000);
      expect(places['a trace']).toContain('redis take');
      const { scan } = createScanner(evidence.canaries);
      const total = Object.values(places).reduce((sum, text) => sum + text.length, 0);
      console.log(`${Object.keys(evidence.canaries).length} secrets looked for in ${total} characters`);
      const found = Object.entries(places).flatMap(([place, text]) => scan(place, text));
      return [...new Set(found.map(({ canary, place }) => `${canary} in ${place}`))];
    },
  };
}

/** The secrets of the services and their callers, which are searched for in everything that the services write. */
export type Secrets = ReturnType<typeof keepSecrets>;

/** What the services, and callers of management, keep to themselves. */
function secretsOf({ world, redisPassword, ours }: MatrixWorld): Evidence['canaries'] {
  const kek = kekOf(world.kekText);
  const managementKek = kekOf(world.managementKekText);
  return {
    redisPassword,
    databasePassword: new URL(world.environment['SIGNER_DATABASE_URL'] ?? '').password,
    'databasePassword of management': new URL(world.managementDatabaseUrl).password,
    introspectionSecret: world.issuer.introspectionClient.secret,
    seed: world.demo.seed,
    kek: Buffer.from(kek, 'base64url'),
    'kek, as text': kek,
    'kek of management': Buffer.from(managementKek, 'base64url'),
    'kek of management, as text': managementKek,
    apiKey: ours.apiKey,
    managementKey: ours.managementKey,
  };
}

function kekOf(ring: string): string {
  const { keys } = JSON.parse(ring) as { keys: { k: string }[] };
  return keys[0]?.k ?? '';
}
