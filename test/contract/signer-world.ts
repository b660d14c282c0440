import { randomBytes } from 'node:crypto';
import { turnKey } from '@ori/turns/limiter';
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import type { Ask, Reply } from '../env/http-client.ts';
import { BODY_SHA256, SIGN_BODY, startWorld, type World, type WorldOptions } from '../env/world.ts';
import { requireDocumented } from './openapi-check.ts';
import { createTenants, type Tenants } from './tenants.ts';

export { BODY_SHA256, SIGN_BODY as V2_BODY };
export const V1_BODY = JSON.stringify({ bodySha256: BODY_SHA256 });

/** A valid signing request, with the given changes. */
export interface SignOptions extends Pick<Ask, 'method' | 'body'> {
  /** The bearer credential; null for no Authorization header. A fresh token of the member by default. */
  readonly bearer?: string | null;
  readonly internId?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A world with every case that a signing request can meet. Every response is checked against the OpenAPI document.
 */
export interface SignerWorld extends Omit<World, 'sign'> {
  readonly tenants: Tenants;
  readonly redis: Redis;
  /** The signer's address. */
  readonly url: string;
  sign(options?: SignOptions): Promise<Reply>;
  request(ask: Ask): Promise<Reply>;
  /** Turns that the limiter counts for the member and its organization. */
  turnsUsed(): Promise<{ user: number; organization: number }>;
  auditLines(): Promise<Record<string, unknown>[]>;
}

/** Whether tests that inject nothing run against the signer as it ships. */
const AS_IT_SHIPS = process.env['CONTRACT'] === 'shipped';

export async function startSignerWorld(options: WorldOptions = {}): Promise<SignerWorld> {
  await using stack = new AsyncDisposableStack();
  const isProcess = AS_IT_SHIPS && options.parts === undefined && options.config === undefined;
  const world = stack.use(await startWorld(isProcess ? { ...options, process: true } : options));
  const redisUrl = world.environment['SIGNER_REDIS_URL'] ?? '';
  const redis = stack.adopt(new Redis(redisUrl, { lazyConnect: true }), (client) => client.disconnect());
  const tenants = await createTenants(world);
  const url = new URL(world.baseUrl).origin;
  async function request(ask: Ask): Promise<Reply> {
    const reply = await world.http.ask(ask);
    requireDocumented({ method: 'GET', ...ask, ...reply }, 'signer');
    return reply;
  }
  const owned = stack.move();
  return {
    ...world,
    tenants,
    redis,
    url,
    request,
    async sign({ bearer, internId = tenants.internId, path, headers = {}, ...question } = {}) {
      const token = bearer === undefined ? await world.token() : bearer;
      return request({
        method: 'POST',
        body: SIGN_BODY,
        ...question,
        path: path ?? `/v1/interns/${internId}/daemon/sign`,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          'content-type': 'application/json',
          ...headers,
        },
      });
    },
    async turnsUsed() {
      const used = async (key: string) => Number((await redis.get(key)) ?? 0);
      return {
        user: await used(turnKey('user', tenants.userId)),
        organization: await used(turnKey('organization', tenants.organizationId)),
      };
    },
    async auditLines() {
      const lines = (await world.audit()).split('\n').filter((line) => line !== '');
      const all = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      return all.filter(({ event }) => event === 'proof_issued');
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A world for all tests of a file. */
export async function useSignerWorld(options?: WorldOptions): Promise<SignerWorld> {
  const world = await startSignerWorld(options);
  afterAll(() => world[Symbol.asyncDispose]());
  return world;
}

/** An id that exists nowhere else. */
export function freshId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`;
}
