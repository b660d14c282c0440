import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  CONFIGURATION,
  INTERN_ID,
  REPLAY_STORE_SINCE,
  type RefusalCode,
  type Scenario,
  type Step,
  type VerifierConfiguration,
} from './scenario.ts';

export const TIMESTAMP = 1_789_000_000;
export const NOW = TIMESTAMP + 10;
export const BODY = Buffer.from('{"prompt":"hello"}');

export interface TestKey {
  seed: Buffer;
  privateKey: KeyObject;
  publicKey: Buffer;
}

/** The key of RFC 8032 test 1: the intern's own, wherever nothing else is said. */
export const INTERN_KEY = keyFromSeed('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');

export function namedKey(name: string): TestKey {
  return keyFromSeed(createHash('sha256').update(`ori vectors, key ${name}`).digest('hex'));
}

export function namedNonce(name: string): string {
  return createHash('sha256')
    .update(`ori vectors, nonce ${name}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url');
}

/** What a proof is made over and what the request around it looks like. All text is Latin-1: a character is a byte. */
export interface Claim {
  internId: string;
  timestamp: string;
  user: string;
  nonce: string;
  method: string;
  path: string;
  body: Buffer;
  version: 1 | 2;
  key: TestKey;
}

export const CLAIM: Claim = {
  internId: INTERN_ID,
  timestamp: String(TIMESTAMP),
  user: 'user_2abc',
  nonce: namedNonce('first'),
  method: 'POST',
  path: '/api/invoke',
  body: BODY,
  version: 2,
  key: INTERN_KEY,
};

export function inputV1(claim: Claim): Buffer {
  return netstrings('ori-invoke-v1', claim.internId, claim.timestamp, claim.user, sha256(claim.body));
}

export function inputV2(claim: Claim): Buffer {
  const { internId, timestamp, nonce, user, method, path, body } = claim;
  return netstrings('ori-invoke-v2', internId, timestamp, nonce, user, method, path, sha256(body));
}

export type Header = readonly [name: string, value: string];

export function proofHeaders(claim: Claim): Header[] {
  const headers: Header[] = [
    ['x-ori-invoke-signature', signed(inputV1(claim), claim.key)],
    ['x-ori-invoke-timestamp', claim.timestamp],
    ['x-ori-invoke-user', claim.user],
  ];
  if (claim.version === 1) return headers;
  return [
    ...headers,
    ['x-ori-invoke-signature-v2', signed(inputV2(claim), claim.key)],
    ['x-ori-invoke-nonce', claim.nonce],
  ];
}

export interface StepOptions {
  /** What the proof is made over, where it differs from `CLAIM`. */
  claim?: Partial<Claim>;
  /** What is done to the headers on the way. */
  headers?: (headers: readonly Header[]) => readonly Header[];
  now?: number;
  method?: string;
  target?: string;
  body?: Buffer;
}

/** A request with a proof, and what becomes of it. The request is what the proof was made over unless `options` say otherwise. */
export function step(expect: 'ok' | RefusalCode, options: StepOptions = {}): Step {
  const claim = { ...CLAIM, ...options.claim };
  const body = options.body ?? claim.body;
  const headers: Header[] = [
    ['Host', 'int-7qm2.daemon.example'],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body.length)],
    ...proofHeaders(claim),
  ];
  const request = {
    now: options.now ?? NOW,
    method: options.method ?? claim.method,
    target: options.target ?? claim.path,
    rawHeaders: (options.headers?.(headers) ?? headers).flat(),
    bodyBase64: body.toString('base64'),
  };
  if (expect !== 'ok') return { ...request, expect };
  const { user, internId, version, nonce } = claim;
  const issuedAt = Number(claim.timestamp);
  return {
    ...request,
    expect,
    proof: { user, internId, version, issuedAt, ...(version === 2 ? { nonce } : {}) },
  };
}

export interface ScenarioOptions {
  verifier?: Partial<VerifierConfiguration>;
  replayStoreSince?: number;
  keys?: unknown[];
}

export function scenario(
  section: string,
  title: string,
  steps: Step | Step[],
  options: ScenarioOptions = {},
): Scenario {
  return {
    title,
    section,
    verifier: { ...CONFIGURATION, ...options.verifier },
    replayStoreSince: options.replayStoreSince ?? REPLAY_STORE_SINCE,
    jwks: { keys: options.keys ?? [jwk(INTERN_KEY.publicKey)] },
    steps: [steps].flat(),
  };
}

/** A published key, `kid` being the RFC 7638 thumbprint. */
export function jwk(publicKey: Uint8Array, interval: { nbf?: number; exp?: number } = {}) {
  const x = Buffer.from(publicKey).toString('base64url');
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', use: 'sig', kid, x, ...interval };
}

export function signed(input: Buffer, { privateKey }: TestKey): string {
  return sign(null, input, privateKey).toString('base64');
}

function netstrings(...fields: string[]): Buffer {
  return Buffer.from(fields.map((field) => `${field.length}:${field},`).join(''), 'latin1');
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function keyFromSeed(hex: string): TestKey {
  const seed = Buffer.from(hex, 'hex');
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const privateKey = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { seed, privateKey, publicKey: spki.subarray(-32) };
}
