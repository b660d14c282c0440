import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  type BeginStep,
  type FinishStep,
  INTERN_ID,
  type PresentStep,
  type RefusalCode,
  type RestartStep,
} from './scenario.ts';

export const TIMESTAMP = 1_789_000_000;
export const NOW = TIMESTAMP + 10;
export const BODY = Buffer.from('{"prompt":"hello"}');

export interface TestKey {
  seed: Buffer;
  privateKey: KeyObject;
  publicKey: Buffer;
}

/** The key of RFC 8032 test 1: the intern's own, unless stated otherwise. */
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

/** The values that a proof covers, and the form of its request. All text is Latin-1: one character per byte. */
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
  /** The values that the proof covers, where they differ from `CLAIM`. */
  claim?: Partial<Claim>;
  /** Changes to the headers in transit. */
  headers?: (headers: readonly Header[]) => readonly Header[];
  now?: number;
  storeNow?: number;
  method?: string;
  target?: string;
  body?: Buffer;
  retryAfterSeconds?: number;
  /** Another acceptable verdict. */
  or?: RefusalCode;
  /** The verifier's own intern id, for the signing input. */
  internId?: string;
}

/** A request with a proof, and its verdict. The request matches the proof unless `options` say otherwise. */
export function step(expect: 'ok' | RefusalCode, options: StepOptions = {}): PresentStep {
  const claim = { ...CLAIM, ...options.claim };
  const body = options.body ?? claim.body;
  const head = headOf(claim, body, options);
  return {
    do: 'present',
    ...at(options),
    ...head,
    bodyBase64: body.toString('base64'),
    ...verdict(expect, claim, head, body, options),
  };
}

/** The head of a request whose body follows later. */
export function begin(
  request: string,
  expect: 'continue' | RefusalCode,
  options: StepOptions = {},
): BeginStep {
  const claim = { ...CLAIM, ...options.claim };
  const head = headOf(claim, options.body ?? claim.body, options);
  return { do: 'begin', request, ...at(options), ...head, expect };
}

/** The body of a request whose head was created with the same `options`, except for its time. */
export function finish(request: string, expect: 'ok' | RefusalCode, options: StepOptions = {}): FinishStep {
  const claim = { ...CLAIM, ...options.claim };
  const body = options.body ?? claim.body;
  return {
    do: 'finish',
    request,
    ...at(options),
    bodyBase64: body.toString('base64'),
    ...verdict(expect, claim, headOf(claim, body, options), body, options),
  };
}

export const restart = (now: number): RestartStep => ({ do: 'restart', now, expect: 'done' });

function at({ now = NOW, storeNow }: StepOptions): { now: number; storeNow?: number } {
  return storeNow === undefined ? { now } : { now, storeNow };
}

function headOf(claim: Claim, body: Buffer, options: StepOptions) {
  const headers: Header[] = [
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body.length)],
    ...proofHeaders(claim),
  ];
  return {
    method: options.method ?? claim.method,
    target: options.target ?? claim.path,
    rawHeaders: (options.headers?.(headers) ?? headers).flat(),
  };
}

type RequestHead = ReturnType<typeof headOf>;

function verdict(
  expect: 'ok' | RefusalCode,
  claim: Claim,
  head: RequestHead,
  body: Buffer,
  { retryAfterSeconds, or, internId = INTERN_ID }: StepOptions,
) {
  const input = BEFORE_THE_SIGNATURE.has(expect) ? undefined : signingInputOf(head, body, internId);
  const { user, version, nonce, timestamp } = claim;
  const proof = { user, internId, version, issuedAt: Number(timestamp), ...(version === 2 && { nonce }) };
  return {
    ...(input === undefined ? {} : { signingInput: input.toString('latin1') }),
    expect,
    ...(or === undefined ? {} : { or }),
    ...(expect === 'ok' ? { proof } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

const BEFORE_THE_SIGNATURE: ReadonlySet<string> = new Set([
  'proof_missing',
  'proof_malformed',
  'proof_version_not_accepted',
  'request_not_coverable',
  'answers_not_kept',
]);

/** The signing input that a verifier builds from the received request. */
function signingInputOf({ method, target, rawHeaders }: RequestHead, body: Buffer, internId: string): Buffer {
  const value = (name: string): string =>
    rawHeaders[rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name) + 1] ??
    '';
  const nonce = rawHeaders.some((text) => text.toLowerCase() === 'x-ori-invoke-nonce')
    ? value('x-ori-invoke-nonce')
    : undefined;
  const timestamp = value('x-ori-invoke-timestamp');
  const user = value('x-ori-invoke-user');
  if (nonce === undefined) return netstrings('ori-invoke-v1', internId, timestamp, user, sha256(body));
  return netstrings('ori-invoke-v2', internId, timestamp, nonce, user, method, target, sha256(body));
}

/** A published key. `kid` is the RFC 7638 thumbprint. */
export function jwk(publicKey: Uint8Array, interval: { nbf?: number; exp?: number } = {}) {
  const x = Buffer.from(publicKey).toString('base64url');
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', use: 'sig', kid, x, ...interval };
}

export function signed(input: Buffer, { privateKey }: TestKey): string {
  return sign(null, input, privateKey).toString('base64');
}

export function netstrings(...fields: string[]): Buffer {
  return Buffer.from(fields.map((field) => `${field.length}:${field},`).join(''), 'latin1');
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function keyFromSeed(hex: string): TestKey {
  const seed = Buffer.from(hex, 'hex');
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const privateKey = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { seed, privateKey, publicKey: spki.subarray(-32) };
}
