import { setTimeout as pause } from 'node:timers/promises';
import { turnKey } from '@ori/turns/limiter';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpClient, type Reply } from '../env/http-client.ts';
import { freePort } from '../env/ports.ts';
import { hostInProcess } from '../env/signer-host.ts';
import { SIGN_BODY, startWorld } from '../env/world.ts';

const SIGNERS = 8;
const REQUESTS_EACH = 10;

/** Eight signers that share one Redis and one database, and write one audit file. */
async function startSigners(environment: Readonly<Record<string, string>>) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const world = stack.use(await startWorld({ environment }));
  const clients = [stack.use(createHttpClient(world.baseUrl))];
  while (clients.length < SIGNERS) {
    const [port, opsPort] = [await freePort(), await freePort()];
    const ports = { SIGNER_PORT: String(port), SIGNER_OPS_PORT: String(opsPort) };
    stack.use(await hostInProcess({ ...world.environment, ...ports }, {}));
    // A signer that could not reach the issuer while eight start at once retries after its cool-down.
    while (!(await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok) await pause(50);
    clients.push(stack.use(createHttpClient(`http://127.0.0.1:${port}/v1`)));
  }
  const admin = new Redis(world.environment['SIGNER_REDIS_URL'] ?? '', { retryStrategy: () => 20 });
  admin.on('error', () => {});
  stack.defer(() => admin.disconnect());
  const token = await world.token();
  const headers = ['Authorization', `Bearer ${token}`, 'Content-Type', 'application/json'];
  const used = async (scope: 'user' | 'organization', id: string) =>
    Number((await admin.get(turnKey(scope, id))) ?? 0);
  const { userId, organizationId } = world.demo;
  return {
    world,
    /** Sends this many requests to each signer one by one, to all signers concurrently. */
    async askAll(): Promise<Reply[]> {
      const askOne = async (client: (typeof clients)[number]): Promise<Reply[]> => {
        const replies: Reply[] = [];
        while (replies.length < REQUESTS_EACH) {
          replies.push(await client.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY }));
        }
        return replies;
      };
      return (await Promise.all(clients.map(askOne))).flat();
    },
    turnsUsed: async () => ({
      user: await used('user', userId),
      organization: await used('organization', organizationId),
    }),
  };
}

/** The nonces of all issued proofs. */
function noncesOf(replies: readonly Reply[]): Set<string> {
  return new Set(replies.map(({ text }) => JSON.parse(text)['x-ori-invoke-nonce'] as string));
}

const LIMITS = [
  ['the user', { TURNS_PER_USER: '30', TURNS_PER_ORGANIZATION: '1000' }, 30],
  ['the organization', { TURNS_PER_USER: '1000', TURNS_PER_ORGANIZATION: '40' }, 40],
] as const;

test.each(LIMITS)(
  '8 concurrent signers allow exactly the configured turns of %s',
  async (_whose, environment, limit) => {
    const { askAll, turnsUsed, world } = await startSigners(environment);
    const replies = await askAll();
    const signed = replies.filter(({ status }) => status === 200);
    // On an overloaded machine a turn may be lost to a 500; none is ever gained.
    const lost = replies.filter(({ status }) => status === 500);
    expect(signed.length).toBeLessThanOrEqual(limit);
    expect(signed.length + lost.length).toBeGreaterThanOrEqual(limit);
    expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    const used = await turnsUsed();
    for (const count of [used.user, used.organization]) {
      expect(count).toBeGreaterThanOrEqual(signed.length);
      expect(count).toBeLessThanOrEqual(limit);
    }
    expect(noncesOf(signed).size).toBe(signed.length);
    expect((await world.audit()).trim().split('\n')).toHaveLength(signed.length);
  },
  60_000,
);
