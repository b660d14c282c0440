import { presentDeadline } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/presentation';
import { ED25519 } from '@ori/proof/algorithms';
import { KEY_SET_HEADER } from '@ori/proof/headers';
import { PROOF_HEADERS } from '@ori/proof/versions';
import { z } from 'zod';
import { PRESENTATIONS, SIGNING_SCOPE } from './refusals.ts';
import { signingRequest } from './request.ts';

/** An operation of either service, as it is described to users of the API; no route depends on it. */
export interface Described {
  readonly operationId: string;
  readonly tag: string;
  readonly method: string;
  /** Below the base address, with `{name}` for a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The scopes that a session needs; null for a public operation. */
  readonly scopes: readonly string[] | null;
  readonly query?: z.ZodObject | undefined;
  readonly headers?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Every refusal; several have the same status but different reasons. */
  readonly refusals: readonly Presentation[];
}

/** A successful answer. */
export interface DescribedAnswer {
  readonly description: string;
  /** Absent for an answer without a body. */
  readonly body?: z.ZodType;
  /** Of bytes that are not JSON. */
  readonly mediaTypes?: readonly string[];
  readonly headers?: z.ZodObject;
}

const Signature = z
  .string()
  .regex(new RegExp(`^${ED25519.signatureText}$`))
  .meta({
    description: 'Ed25519 signature, base64.',
    example: 'zMyIKlNJgAaBSg8nfMAE6m/6KpahQl/Vxr5un34nPzqZoo5O2fHUhGpO3tu+TVLk1hOThvkmbukkANvDcw8IBg==',
  });

/** The signing response: header names and their values. The last two are present together if a route was given. */
const DaemonProof = z
  .strictObject({
    [PROOF_HEADERS.signature]: Signature.meta({
      description: 'Ed25519 signature, base64, over intern, timestamp, user and body digest.',
      example: 'PrB6phrL9HxAHbXnGkePuzx0EeZwsIX6IfF1BesasFEm7W9JmHk/2aI0IFOkyHDIaCqMOjP34022pQkecmDrDA==',
    }),
    [PROOF_HEADERS.timestamp]: z
      .string()
      .regex(/^(0|[1-9][0-9]{0,11})$/)
      .meta({ description: 'Unix seconds at signing.', example: '1789000000' }),
    [PROOF_HEADERS.user]: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'The verified OAuth subject that the proof names.', example: '248289761001' }),
    [PROOF_HEADERS.signatureV2]: Signature.optional().meta({
      description:
        'Ed25519 signature, base64, over intern, timestamp, nonce, user, method, path and body digest. ' +
        'Present when the request carried `route`; the daemon accepts it once.',
    }),
    [PROOF_HEADERS.nonce]: z
      .string()
      .regex(/^[A-Za-z0-9_-]{21}[AQgw]$/)
      .optional()
      .meta({
        description: 'The single-use id to which the v2 proof is bound.',
        example: 'AAECAwQFBgcICQoLDA0ODw',
      }),
  })
  .meta({
    id: 'DaemonProof',
    description: 'The headers to add to the daemon request, by name.',
    override: {
      dependentRequired: {
        [PROOF_HEADERS.signatureV2]: [PROOF_HEADERS.nonce],
        [PROOF_HEADERS.nonce]: [PROOF_HEADERS.signatureV2],
      },
    },
  });

const VerificationKey = z
  .strictObject({
    kty: z.literal(ED25519.jwk.kty),
    crv: z.literal(ED25519.jwk.crv),
    use: z.literal('sig'),
    kid: z.string().meta({
      description: 'RFC 7638 thumbprint of the key.',
      example: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    }),
    x: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .meta({
        description: 'The public key: 32 bytes, base64url.',
        example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      }),
    nbf: z
      .int()
      .optional()
      .meta({ description: 'The first proof timestamp for which the key is valid.', example: 1_789_000_000 }),
    exp: z
      .int()
      .optional()
      .meta({ description: 'The first proof timestamp for which the key is no longer valid.' }),
  })
  .meta({ id: 'VerificationKey' });

const Delegation = z.strictObject({
  role: z.enum(['root', 'keys', 'freshness']).meta({ example: 'freshness' }),
  x: z.string().meta({
    description: 'The public key: 32 bytes, base64url.',
    example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  }),
  nbf: z.int().meta({ example: 1_789_000_000 }),
  exp: z.int().meta({ example: 1_791_592_000 }),
  signature: Signature,
});

const VerificationKeySet = z
  .strictObject({
    keys: z.array(VerificationKey),
    'ori.answers': z
      .array(z.strictObject({ x: VerificationKey.shape.x, statement: Signature.optional() }))
      .min(1)
      .max(2)
      .optional()
      .meta({ description: 'The keys with which the daemon proves its answers, if it does.' }),
    ori: z
      .strictObject({
        delegations: z.array(Delegation),
        statements: z.array(Signature),
      })
      .optional()
      .meta({
        description: 'Who vouches for the keys, where the deployment has a root (ROOTED-KEY-SETS.md).',
      }),
  })
  .meta({ id: 'VerificationKeySet', description: 'JWK Set (RFC 7517).' });

const rateLimit = {
  RateLimit: z.string().meta({
    description: 'The remaining turns of the limit that runs out first (IETF draft).',
    example: '"user";r=59;t=60',
  }),
  'RateLimit-Policy': z.string().meta({
    description: 'The number of turns and the window in seconds (IETF draft).',
    example: '"user";q=60;w=60, "organization";q=600;w=60',
  }),
};

const cacheControl = (value: string) => ({ 'Cache-Control': z.literal(value) });
const etag = { ETag: z.string().meta({ description: 'Strong entity tag of the answer.' }) };

const keySetHeaders = {
  'Cache-Control': z
    .enum(['public, max-age=60', 'public, max-age=30'])
    .meta({ example: 'public, max-age=60' }),
  [KEY_SET_HEADER]: z.string().optional().meta({
    description: 'Unix milliseconds and a signature: that this is the current set, where there is a root.',
  }),
};

const timeout = presentDeadline(5000);
const always: readonly Presentation[] = [timeout, PRESENTATIONS.internal_error];

const { rate_limited: tooMany, ...refusals } = PRESENTATIONS;

/** The signer's operations, as described to users of the API. */
export const SIGNER_OPERATIONS: readonly Described[] = [
  {
    operationId: 'signDaemonRequest',
    tag: 'Interns',
    method: 'POST',
    path: '/interns/{internId}/daemon/sign',
    summary: 'Sign the digest of a daemon request',
    description: `Returns the headers that prove to the intern's daemon who is calling. Only the SHA-256 of the daemon request's body is sent here, never the body itself.

With \`route\`, the answer also contains a v2 proof, which is bound to method, path and body and is valid once. Without it, the answer contains only the three v1 headers, which a daemon refuses by default.

Requires a session of \`ori login --oidc\` whose grant has the scope \`${SIGNING_SCOPE}\`; an API key identifies no person and is refused. Each request costs one turn of the user and one of the organization.`,
    scopes: [SIGNING_SCOPE],
    body: signingRequest,
    answers: {
      200: {
        description: 'The proof.',
        body: DaemonProof,
        headers: z.object({ ...cacheControl('no-store'), ...rateLimit }),
      },
    },
    refusals: [
      ...Object.values(refusals),
      {
        ...tooMany,
        headers: {
          'Retry-After': '12',
          RateLimit: '"user";r=0;t=12',
          'RateLimit-Policy': '"user";q=60;w=60, "organization";q=600;w=60',
        },
      },
      // Too many in progress: the turns were not counted.
      { ...tooMany, headers: { 'Retry-After': '1' } },
      timeout,
    ],
  },
  {
    operationId: 'getDaemonKeys',
    tag: 'Interns',
    method: 'GET',
    path: '/interns/{internId}/daemon/jwks.json',
    summary: "Get the public keys that verify an intern's proofs",
    description:
      'Public. A daemon fetches and caches them. For an unknown intern id the set is empty, so that the route does not reveal which interns exist.',
    scopes: null,
    headers: z.object({
      'If-None-Match': z.string().optional().meta({ description: 'The `ETag` of the cached answer.' }),
    }),
    answers: {
      200: {
        description: 'The currently published keys, possibly none.',
        body: VerificationKeySet,
        headers: z.object({ ...etag, ...keySetHeaders }),
      },
      304: {
        description: 'The cached answer is still current.',
        headers: z.object({ ...etag, ...keySetHeaders }),
      },
    },
    refusals: [PRESENTATIONS.regional_host_refused, PRESENTATIONS.not_found, ...always],
  },
];
