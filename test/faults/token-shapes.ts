import type { Reply } from '../env/http-client.ts';
import { reasonOf, type World } from '../env/world.ts';

/** The kinds of credentials that a fault affects differently. */
export const TOKEN_SHAPES = [
  'JWT, known key',
  'JWT, unknown key',
  'opaque, seen',
  'opaque, unseen',
  'API key',
] as const;

export type TokenShape = (typeof TOKEN_SHAPES)[number];

/** One credential of each shape, prepared while nothing is broken. */
export type Credentials = Readonly<Record<TokenShape, string>>;

/** The answer to a credential: a proof, or the reason for the refusal. */
export type Outcome = 'proof' | (string & {});

/** The answer to each shape while nothing is broken. */
export const ALL_WELL: Readonly<Record<TokenShape, Outcome>> = {
  'JWT, known key': 'proof',
  'JWT, unknown key': 'proof',
  'opaque, seen': 'proof',
  'opaque, unseen': 'proof',
  'API key': 'personal_identity_required',
};

/** New credentials: the unknown key is published by the issuer, and the signer has not fetched it. */
export async function prepare(world: World): Promise<Credentials> {
  const seen = world.issuer.opaqueToken();
  const reply = await world.sign({ bearer: seen });
  if (reply.status !== 200) throw new Error(`the world is not well: ${reply.status} ${reply.text}`);
  const kid = await world.issuer.addKey('ES256', true);
  return {
    'JWT, known key': await world.token(),
    'JWT, unknown key': await world.token({ signWith: { kid } }),
    'opaque, seen': seen,
    'opaque, unseen': world.issuer.opaqueToken(),
    'API key': world.demo.apiKey,
  };
}

export interface Asked {
  readonly outcome: Outcome;
  readonly milliseconds: number;
}

/** Sends requests with all shapes concurrently, `times` of each. */
export async function askAll(
  world: World,
  credentials: Credentials,
  times: number,
): Promise<Record<TokenShape, Asked[]>> {
  const entries = TOKEN_SHAPES.map(async (shape) => {
    const asking = Array.from({ length: times }, () => world.sign({ bearer: credentials[shape] }));
    return [shape, (await Promise.all(asking)).map(judged)] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<TokenShape, Asked[]>;
}

function judged(reply: Reply): Asked {
  const { milliseconds } = reply;
  if (reply.status !== 200) return { outcome: reasonOf(reply) ?? `status ${reply.status}`, milliseconds };
  const proof = JSON.parse(reply.text) as Record<string, string>;
  return { outcome: proof['x-ori-invoke-signature-v2'] ? 'proof' : 'an empty answer', milliseconds };
}
