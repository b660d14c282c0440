import { createDpopNonces, DPOP_NONCE_PURPOSE, NONCE_SLOT_SECONDS } from '@ori/identity/dpop/nonces';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createDpopKey, type DpopKey, type DpopProofOptions } from '@ori/test-env/dpop';
import { expect } from 'vitest';
import type { Ask, Reply } from '../../env/http-client.ts';
import { type SignerWorld, V2_BODY } from '../signer-world.ts';

/** A request with a new, valid DPoP proof, with the given changes. */
export interface Attempt extends Partial<Pick<Ask, 'method' | 'path' | 'body'>> {
  readonly authorization?: string;
  readonly proofs?: readonly string[];
  readonly headers?: readonly string[];
}

/** A clock that can be stopped. For a signer that compares it with no other: `clocks: {}`. */
export interface SteadyClock {
  (): number;
  /** Stops it at a whole second, a moment ahead: no key is too new, and no nonce expires. */
  stop(): void;
}

export function steadyClock(): SteadyClock {
  let at: number | undefined;
  const now = () => at ?? Date.now();
  return Object.assign(now, {
    stop() {
      at ??= Math.ceil(Date.now() / 1000) * 1000 + 2000;
    },
  });
}

export async function createDpopWorld(world: SignerWorld, now: SteadyClock, key?: DpopKey) {
  now.stop();
  const clientKey = key ?? (await createDpopKey());
  const token = await world.token({ claims: { cnf: { jkt: clientKey.thumbprint } } });
  const { internId } = world.tenants;
  const path = `/v1/interns/${internId}/daemon/sign`;
  const htu = `${world.baseUrl}/interns/${internId}/daemon/sign`;
  const secrets = parseKekRing(world.kekText).derive(DPOP_NONCE_PURPOSE);
  const epoch = await epochOf(world, { path, token });
  const nonce = (periods = 0) =>
    createDpopNonces(
      () => secrets,
      () => now() + periods * NONCE_SLOT_SECONDS * 1000,
      () => epoch,
    ).current();
  const proof = (options: Partial<DpopProofOptions> = {}) =>
    clientKey.proof({ url: htu, accessToken: token, nonce: nonce(), content: V2_BODY, ...options });
  async function send(attempt: Attempt = {}, repeats = 10): Promise<Reply> {
    const { authorization, proofs, headers = [], body = V2_BODY, ...question } = attempt;
    const sent = proofs ?? [await proof({ content: body as string })];
    const answer = await world.request({
      method: 'POST',
      path,
      headers: [
        ...['Authorization', authorization ?? `DPoP ${token}`],
        ...sent.flatMap((value) => ['DPoP', value]),
        ...['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body as string))],
        ...headers,
      ],
      body,
      ...question,
    });
    // Tolerates a busy machine.
    return proofs === undefined && answer.status === 500 && repeats > 0 ? send(attempt, repeats - 1) : answer;
  }
  return {
    key: clientKey,
    /** Bound to the key. */
    token,
    path,
    /** The public address of the sign route. */
    htu,
    /** The nonce of another time, in nonce periods. */
    nonce,
    /** A valid DPoP proof, with the given changes. */
    proof,
    send,
    /** The state that a refused request must not change. */
    async traces(): Promise<unknown> {
      const issued = await world.redis.keys(`ori:{${internId}}:issued:*`);
      return {
        turns: await world.turnsUsed(),
        issued: issued.length,
        audit: (await world.auditLines()).length,
      };
    },
  };
}

/** A bound session of the member, and its requests. */
export type DpopWorld = Awaited<ReturnType<typeof createDpopWorld>>;

/** The epoch in the nonce of a challenge. */
async function epochOf(
  world: SignerWorld,
  { path, token }: Pick<DpopWorld, 'path' | 'token'>,
): Promise<string> {
  const headers = { authorization: `DPoP ${token}`, dpop: 'none', 'content-type': 'application/json' };
  const challenge = await world.request({ method: 'POST', path, headers, body: V2_BODY });
  return String(challenge.headers['dpop-nonce']).split('.')[1] ?? '';
}

/** `error` of the DPoP challenge. */
export function dpopErrorOf({ headers }: Reply): string | undefined {
  return /DPoP error="([^"]*)"/.exec(headers['www-authenticate'] ?? '')?.[1];
}

export function expectChallenge(answer: Reply, error: string): void {
  expect([answer.status, dpopErrorOf(answer)]).toEqual([401, error]);
  expect(answer.headers['www-authenticate']).toContain('algs="ES256 EdDSA Ed25519"');
}
