import { createDpopKey, dpopHeaders } from '../env/dpop.ts';
import type { Ask, Reply } from '../env/http-client.ts';
import { SIGN_BODY } from '../env/world.ts';
import type { MatrixWorld } from './matrix-world.ts';

/** One kind of request, and its answer while nothing is broken. */
export interface Shape {
  readonly name: string;
  readonly well: number;
  ask(): Promise<Reply>;
}

export interface Answered {
  readonly shape: string;
  readonly reply: Reply;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The same DPoP proof, used before. */
export const USED_PROOF = 'a used DPoP proof';

/** The kinds of requests to the signer. The last four must never get a proof. */
export async function signerShapes(on: MatrixWorld): Promise<Shape[]> {
  const { world, signerHttp } = on;
  const kid = await world.issuer.addKey('ES256', true);
  const [known, unknown, stranger] = await Promise.all([
    world.token(),
    world.token({ signWith: { kid } }),
    world.token({ subject: 'nobody' }),
  ]);
  const seen = world.issuer.opaqueToken();
  const sign = (bearer: string | null) => {
    const authorization = bearer === null ? [] : ['Authorization', `Bearer ${bearer}`];
    const headers = [...authorization, 'Content-Type', 'application/json'];
    return signerHttp.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY });
  };
  const bound = await boundSession(on);
  const used = await bound.nextHeaders();
  await bound.sign(used);
  // From now on the signer has the issuer's answers cached.
  await Promise.all([sign(known), sign(seen), sign(stranger)]);
  return [
    { name: 'JWT, known key', well: 200, ask: () => sign(known) },
    { name: 'JWT, unknown key', well: 200, ask: () => sign(unknown) },
    { name: 'opaque, seen', well: 200, ask: () => sign(seen) },
    { name: 'opaque, unseen', well: 200, ask: () => sign(world.issuer.opaqueToken()) },
    { name: 'JWT, bound to a key', well: 200, ask: bound.ask },
    { name: 'API key', well: 403, ask: () => sign(world.demo.apiKey) },
    { name: 'JWT of a stranger', well: 404, ask: () => sign(stranger) },
    { name: 'no credential', well: 401, ask: () => sign(null) },
    { name: USED_PROOF, well: 401, ask: () => bound.sign(used) },
  ];
}

/** A session of the demo user that is bound to a key. */
async function boundSession({ world, signerHttp }: MatrixWorld) {
  const key = await createDpopKey();
  const accessToken = await world.token({ claims: { cnf: { jkt: key.thumbprint } } });
  const url = new URL(world.signPath, world.baseUrl).href;
  const sign = async (headers: readonly string[]) =>
    signerHttp.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY });
  const headersFor = async (nonce?: string) => [
    ...dpopHeaders(
      accessToken,
      await key.proof({ url, accessToken, content: SIGN_BODY, ...(nonce && { nonce }) }),
    ),
    ...['Content-Type', 'application/json'],
  ];
  const challenge = await sign(await headersFor());
  let nonce = String(challenge.headers['dpop-nonce']);
  const nextHeaders = () => headersFor(nonce);
  /** As every client does, with another nonce if the server asks for one: a store that lost its data does. */
  async function ask() {
    const reply = await sign(await nextHeaders());
    if (!String(reply.headers['www-authenticate']).includes('use_dpop_nonce')) return reply;
    nonce = String(reply.headers['dpop-nonce']);
    return sign(await nextHeaders());
  }
  return { sign, nextHeaders, ask };
}

/** The kinds of requests to management. The last two must never get a 2xx. */
export async function managementShapes(on: MatrixWorld): Promise<Shape[]> {
  const { world, managementHttp, ours, theirs } = on;
  const ask = (bearer: string | null, call: Ask) => {
    const authorization = bearer === null ? [] : ['Authorization', `Bearer ${bearer}`];
    const type = call.body === undefined ? [] : ['Content-Type', 'application/json'];
    return managementHttp.ask({ ...call, headers: [...authorization, ...type] });
  };
  const create = { method: 'POST', path: '/v1/guardrails', body: '{"name":"made under a fault"}' };
  const owned = await ask(ours.managementKey, create);
  if (owned.status !== 201) throw new Error(`the world is not well: ${owned.status} ${owned.text}`);
  const path = `/v1/guardrails/${JSON.parse(owned.text).data.id}`;
  const session = await world.token({ subject: ours.subject });
  const opaque = () => world.issuer.opaqueToken({ subject: ours.subject });
  await ask(session, { path: '/v1/interns' });
  return [
    { name: 'interns, API key', well: 200, ask: () => ask(ours.apiKey, { path: '/v1/interns' }) },
    { name: 'interns, JWT, known key', well: 200, ask: () => ask(session, { path: '/v1/interns' }) },
    { name: 'interns, opaque, unseen', well: 200, ask: () => ask(opaque(), { path: '/v1/interns' }) },
    { name: 'a guardrail', well: 200, ask: () => ask(ours.managementKey, { path }) },
    { name: 'a new guardrail', well: 201, ask: () => ask(ours.managementKey, create) },
    { name: 'a guardrail, of another account', well: 404, ask: () => ask(theirs.managementKey, { path }) },
    { name: 'interns, no credential', well: 401, ask: () => ask(null, { path: '/v1/interns' }) },
  ];
}
