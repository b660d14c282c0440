import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { bodySha256, KEY_SET_HEADER, renderJwkSet, renderProof, signingInput } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { delegationInput, keyStatementInput, setStatementInput } from '@ori/proof/statements';
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../../../test/env/serve.ts';
import { isCliError } from '../core/errors.ts';
import { requireVouched } from './root.ts';

const internId = 'int_rooted';
const now = Math.floor(Date.now() / 1000);
const [root, keys, freshness, other] = [0, 1, 2, 3].map(() => createSigningKey(randomBytes(32)));
type Key = NonNullable<typeof root>;
const own = { ...createSigningKey(randomBytes(32)), notBefore: now - 60 };
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const xOf = ({ publicKey }: Key) => Buffer.from(publicKey).toString('base64url');

let served: (baseUrl: string) => { body: string; headers: Record<string, string> };
const api = await serve(
  createServer((_req, res) => {
    const { body, headers } = served(baseUrl);
    res.writeHead(200, headers).end(body);
  }),
);
afterAll(() => api[Symbol.asyncDispose]());
const baseUrl = `${api.url}/v1`;

function rooted(by: Key, at = Date.now()) {
  const [notBefore, expiresAt] = [now - 60, now + 600];
  const delegations = [['keys', keys] as const, ['freshness', freshness] as const].map(([role, key = by]) => {
    const { publicKey } = key;
    const signature = base64(by.sign(delegationInput({ baseUrl, role, publicKey, notBefore, expiresAt })));
    return { role, x: xOf(key), nbf: notBefore, exp: expiresAt, signature };
  });
  const statement = {
    baseUrl,
    internId,
    publicKey: own.publicKey,
    notBefore: own.notBefore,
    expiresAt: null,
  };
  const statements = [base64((keys ?? by).sign(keyStatementInput(statement)))];
  const body = JSON.stringify({ ...renderJwkSet([own]), ori: { delegations, statements } });
  const input = setStatementInput({ baseUrl, internId, at, sha256: bodySha256(Buffer.from(body)) });
  return { body, headers: { [KEY_SET_HEADER]: `${at} ${base64((freshness ?? by).sign(input))}` } };
}

const request = { internId, path: '/api/invoke', bodySha256: bodySha256(Buffer.from('{}')) };
function proofBy(key: Pick<Key, 'sign'>, path = request.path) {
  const [user, nonce] = ['ada', createNonce()];
  const named = { ...request, path, method: 'POST', timestamp: now, user, nonce } as const;
  const signatures = ([1, 2] as const).map((version) => ({
    version,
    signature: key.sign(signingInput(version, named)),
  }));
  return renderProof({ timestamp: now, user, nonce, signatures });
}

const judged = (proof: ReturnType<typeof proofBy>, by = root) =>
  requireVouched({ roots: [xOf(by as Key)], baseUrl }, request, proof, new AbortController().signal).then(
    () => 'vouched for',
    (error) => (isCliError(error, 'root_vouches_not') ? error.facts.why : expect.unreachable(String(error))),
  );

beforeEach(() => {
  served = () => rooted(root as Key);
});

it('takes a proof by a key for which the root vouches, and no other', async () => {
  expect(await judged(proofBy(own))).toBe('vouched for');
  expect(await judged(proofBy(other as Key))).toBe('no key of the key set made it');
  expect(await judged(proofBy(own, '/api/other'))).toBe('no key of the key set made it');
});

it('reads the key set again when it is a minute old', async () => {
  let reads = 0;
  served = () => {
    reads += 1;
    return rooted(root as Key);
  };
  const start = Date.now() + 120_000;
  const clock = vi.spyOn(Date, 'now').mockReturnValue(start);
  onTestFinished(() => clock.mockRestore());
  for (const ms of [0, 59_999, 60_000]) {
    clock.mockReturnValue(start + ms);
    expect(await judged(proofBy(own))).toBe('vouched for');
  }
  expect(reads).toBe(2);
});

it.each<[string, typeof served, string]>([
  ['another root', () => rooted(other as Key), 'key_set_role_missing'],
  ['none', () => ({ ...rooted(root as Key), headers: {} }), 'key_set_unstated'],
  ['an old time', () => rooted(root as Key, Date.now() - 60_000), 'key_set_frozen'],
])('takes no proof by a key set with %s', async (_name, serving, code) => {
  served = serving;
  // A root that no other test has read a set by.
  expect(await judged(proofBy(other as Key))).toContain(code);
});
