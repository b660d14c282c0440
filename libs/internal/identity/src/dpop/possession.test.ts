import { createDpopKey } from '@ori/test-env/dpop';
import { describe, expect, test } from 'vitest';
import { DpopError } from './dpop-error.ts';
import { memorySpentProofs } from './memory-spent-proofs.ts';
import { createDpopNonces, NONCE_SLOT_SECONDS } from './nonces.ts';
// Proofs made by other implementations; the file names the source of each.
import others from './other-implementations.vectors.json' with { type: 'json' };
import { createPossession, type ProvenRequest } from './possession.ts';
import { importKey } from './proof-keys.ts';
import { readClaims, readHeader, splitProof } from './read-proof.ts';
import { PROOF_KEPT_SECONDS, type SpentProofs } from './spent-proofs.ts';
import { isTarget } from './target.ts';

/** RFC 9449, section 7.1, figures 13 to 15. */
const RFC = {
  accessToken: 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU',
  tokenDigest: 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo',
  proof:
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA',
  thumbprint: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
  iat: 1_562_262_618,
};
const request: ProvenRequest = {
  proofs: [RFC.proof],
  method: 'GET',
  origin: 'https://resource.example.org',
  path: '/protectedresource',
  tokenDigest: RFC.tokenDigest,
};

function at(seconds: number, requireContent = false) {
  const now = () => seconds * 1000;
  const spent = memorySpentProofs(now);
  const nonces = createDpopNonces(() => [new Uint8Array(32)], now, spent.epoch);
  const possession = createPossession({ nonces, spent, requireContent, now });
  return {
    nonces,
    verify: possession.verify,
    spend: possession.spend,
    async prove(thumbprint: string, sent: ProvenRequest, content?: Uint8Array) {
      const proof = await possession.verify(thumbprint, sent);
      if (content !== undefined) proof.requireContent(content);
      await possession.spend(proof);
      return proof;
    },
  };
}

const key = await createDpopKey();

/** The request with a proof of `key`, which has a nonce. */
async function proven(nonce: string, more: object = {}): Promise<ProvenRequest> {
  const { origin, path } = request;
  const { accessToken } = RFC;
  const proof = await key.proof({ url: origin + path, method: 'GET', accessToken, nonce, ...more });
  return { ...request, proofs: [proof] };
}

/** The code and cause of a refusal. */
async function refusal(judged: Promise<unknown>): Promise<string> {
  return judged.then(
    () => 'accepted',
    (error) => (error instanceof DpopError ? error.code : String(error)),
  );
}

describe('the example of RFC 9449', () => {
  test('is signed by the key in it', async () => {
    const { thumbprint, isSignerOf } = await importKey(readHeader(splitProof([RFC.proof]).header));
    expect([thumbprint, isSignerOf(RFC.proof)]).toEqual([RFC.thumbprint, true]);
  });

  test('needs a nonce', async () => {
    expect(await refusal(at(RFC.iat).verify(RFC.thumbprint, request))).toBe('dpop_nonce_required');
  });
});

describe('a proof with a nonce', () => {
  test.each([0, -600, 600])('is accepted when its iat is %i seconds ahead', async (seconds) => {
    const { nonces, prove } = at(RFC.iat);
    const sent = await proven(nonces.current(), { claims: { iat: RFC.iat + seconds } });
    expect((await prove(key.thumbprint, sent)).thumbprint).toBe(key.thumbprint);
  });

  test('of another server is refused', async () => {
    const sent = await proven(at(0).nonces.current());
    expect(await refusal(at(RFC.iat).verify(key.thumbprint, sent))).toBe('dpop_nonce_required');
  });

  test.each<[string, (proof: string) => string]>([
    ['a signature over something else', (proof) => proof.replace(/[^.]*$/, RFC.proof.replace(/^.*\./, ''))],
    [
      'a second spelling of its signature',
      (proof) => proof.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    ],
    ['padding after its signature', (proof) => `${proof}==`],
    ['a character before its signature that decoders skip', (proof) => proof.replace(/\.([^.]*)$/, '.!$1')],
    ['no signature', (proof) => proof.replace(/[^.]*$/, '')],
  ])('is refused with %s', async (_, change) => {
    const { nonces, prove } = at(RFC.iat);
    const { proofs } = await proven(nonces.current());
    const judged = prove(key.thumbprint, { ...request, proofs: proofs.map(change) });
    expect(await refusal(judged)).toBe('dpop_proof_refused');
  });

  test('is refused for a token bound to another key, without being spent', async () => {
    const { nonces, prove } = at(RFC.iat);
    const sent = await proven(nonces.current());
    expect(await refusal(prove('A'.repeat(43), sent))).toBe('dpop_binding_refused');
    expect(await refusal(prove(key.thumbprint, sent))).toBe('accepted');
    expect(await refusal(prove(key.thumbprint, sent))).toBe('dpop_proof_replayed');
  });

  test.each<[string, Partial<ProvenRequest>]>([
    ['method', { method: 'POST' }],
    ['origin', { origin: 'https://other.example.org' }],
    ['path', { path: '/protected' }],
    ['token', { tokenDigest: 'A'.repeat(43) }],
  ])('is refused for another %s', async (_, other) => {
    const { nonces, prove } = at(RFC.iat);
    const sent = await proven(nonces.current());
    expect(await refusal(prove(key.thumbprint, { ...sent, ...other }))).toBe('dpop_proof_refused');
  });

  test.each([
    ['exp one second ahead', { exp: RFC.iat + 1 }, 'accepted'],
    ['exp now', { exp: RFC.iat }, 'dpop_proof_refused'],
    ['exp that is no number', { exp: String(RFC.iat + 1) }, 'dpop_proof_refused'],
    ['nbf ten seconds ahead', { nbf: RFC.iat + 10 }, 'accepted'],
    ['nbf eleven seconds ahead', { nbf: RFC.iat + 11 }, 'dpop_proof_refused'],
    ['nbf that is no number', { nbf: String(RFC.iat) }, 'dpop_proof_refused'],
  ])('is judged by its %s', async (_, claims, expected) => {
    const { nonces, prove } = at(RFC.iat);
    const sent = await proven(nonces.current(), { claims });
    expect(await refusal(prove(key.thumbprint, sent))).toBe(expected);
  });
});

describe('the content', () => {
  test('must be covered where it is required', async () => {
    const { nonces, prove } = at(RFC.iat, true);
    const sent = await proven(nonces.current(), { claims: { 'x-camara:bh': undefined } });
    expect(await refusal(prove(key.thumbprint, sent))).toBe('dpop_content_refused');
  });

  test('of a proof without the claim is not judged where none is required', async () => {
    const { nonces, prove } = at(RFC.iat);
    const sent = await proven(nonces.current(), { claims: { 'x-camara:bh': undefined } });
    expect(await refusal(prove(key.thumbprint, sent, Buffer.from('any')))).toBe('accepted');
  });

  test('of a proof with the claim is refused where none was read', async () => {
    const { nonces, prove } = at(RFC.iat);
    const proof = await prove(key.thumbprint, await proven(nonces.current()));
    expect(() => proof.requireContent(undefined)).toThrow(
      expect.objectContaining({ code: 'dpop_content_refused' }),
    );
  });
});

test.each(others.vectors)(
  'judges "$name" of $source: $expect',
  async ({ proof: jwt, htu, expect: expected }) => {
    const judge = async () => {
      const proof = splitProof([jwt]);
      const header = readHeader(proof.header);
      const { origin, pathname: path } = new URL(htu);
      if (!isTarget(readClaims(proof.claims).htu, { origin, path })) return 'htu';
      const key = await importKey(header);
      return key.isSignerOf(jwt) ? 'good' : 'signature';
    };
    const outcome = await judge().catch((error: DpopError) => error.message.split(' ').at(-1));
    expect(outcome).toBe(expected);
  },
);

test.each([
  ['HTTP://127.0.0.1:80/token', true],
  ['https://127.0.0.1/token', false],
])('%s matches a target on loopback: %s', (htu, expected) => {
  expect(isTarget(htu, { origin: 'http://127.0.0.1', path: '/token' })).toBe(expected);
});

test('a proof that was spent is not spent again', async () => {
  const { nonces, prove, spend } = at(RFC.iat);
  const proof = await prove(key.thumbprint, await proven(nonces.current()));
  expect(await refusal(spend(proof))).toBe('accepted');
});

test('refuses a key that is no point of its curve', async () => {
  const { alg, jwk } = readHeader(splitProof([RFC.proof]).header);
  const off = { ...jwk, y: jwk.x } as typeof jwk;
  expect(await refusal(importKey({ alg, jwk: off }))).toBe('dpop_proof_refused');
});

test('a store may spend a proof within 75 s of the middle of its nonce’s period, which it remembers it for', async () => {
  const begin = 1000 * NONCE_SLOT_SECONDS;
  for (const seconds of [begin, begin + NONCE_SLOT_SECONDS - 1]) {
    const { nonces, verify } = at(seconds);
    const proof = await verify(key.thumbprint, await proven(nonces.current()));
    expect(proof.take()).toMatchObject({ from: begin + 15 - 75, until: begin + 15 + 75 });
  }
  expect(PROOF_KEPT_SECONDS).toBeGreaterThan(2 * 75);
});

test('asks the store for its epoch while that is unknown, or another, and not again', async () => {
  const now = () => RFC.iat * 1000;
  let known: string | undefined;
  let asked = 0;
  const spent: SpentProofs = {
    epoch: () => known,
    async learn() {
      asked += 1;
      known = 'AAAAAAAAAAAA';
    },
    spend: () => 'spent',
  };
  const nonces = createDpopNonces(() => [new Uint8Array(32)], now, spent.epoch);
  const possession = createPossession({ nonces, spent, now, requireContent: false });
  for (let times = 0; times < 2; times += 1) await refusal(possession.verify(RFC.thumbprint, request));
  expect(asked).toBe(1);
  expect(await possession.unspent('replayed')).toMatchObject({ code: 'dpop_proof_replayed' });
  expect(asked).toBe(1);
  // The nonce in this answer must be of the epoch that the store has now.
  expect(await possession.unspent('forgotten')).toMatchObject({ code: 'dpop_nonce_required' });
  expect(asked).toBe(2);
});

test('a nonce is good in its period and the next, under any secret that the processes share', () => {
  const secrets = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const start = 1_789_000_020_000;
  const epoch = 'AAAAAAAAAAAA';
  const noncesAt = (seconds: number, of = secrets) =>
    createDpopNonces(
      () => of,
      () => start + seconds * 1000,
      () => epoch,
    );
  const nonce = noncesAt(0, secrets.slice(1)).current();
  const later = (seconds: number) => noncesAt(seconds).epochOf(nonce);
  expect([0, 30, 59, -30].map(later)).toEqual([epoch, epoch, epoch, epoch]);
  expect([-31, 60, 3600].map(later)).toEqual([undefined, undefined, undefined]);
  const running = noncesAt(0);
  expect([running.epochOf(nonce), running.epochOf(nonce)]).toEqual([epoch, epoch]);
  expect(noncesAt(0, [new Uint8Array(32)]).epochOf(nonce)).toBeUndefined();
  expect(NONCE_SLOT_SECONDS).toBe(30);
});

test('a nonce carries the epoch of its moment, and the secrets are read once in its period', () => {
  let epoch: string | undefined;
  let reads = 0;
  const nonces = createDpopNonces(
    () => {
      reads += 1;
      return [new Uint8Array(32)];
    },
    () => 1_789_000_020_000,
    () => epoch,
  );
  const epochs = [undefined, 'AAAAAAAAAAAA', 'BBBBBBBBBBBB', undefined].map((next) => {
    epoch = next;
    return nonces.epochOf(nonces.current());
  });
  expect(epochs).toEqual(['------------', 'AAAAAAAAAAAA', 'BBBBBBBBBBBB', '------------']);
  expect(reads).toBe(1);
});

test('remembers a used proof for as long as any server could accept it', () => {
  let now = 0;
  const store = memorySpentProofs(() => now);
  const spend = (id: string, epoch = store.epoch() ?? '') => store.spend({ id, epoch, from: 0, until: 1 });
  expect([spend('a'), spend('b'), spend('a')]).toEqual(['spent', 'spent', 'replayed']);
  now = 179_999;
  expect(spend('a')).toBe('replayed');
  now = 180_000;
  expect(spend('a')).toBe('spent');
  expect(spend('c', 'another')).toBe('forgotten');
  expect(spend('c')).toBe('spent');
});

test('refuses further proofs instead of forgetting one, or growing without a bound', () => {
  const store = memorySpentProofs(() => 0);
  const spend = (id: string) => store.spend({ id, epoch: store.epoch() ?? '', from: 0, until: 1 });
  for (let id = 0; id < 1_000_000; id += 1) void spend(String(id));
  expect(() => spend('one more')).toThrow('full');
  expect(spend('0')).toBe('replayed');
});

test('a memory that began later accepts no proof of the one before', async () => {
  const key = await createDpopKey();
  const { origin, path } = request;
  const options = { url: origin + path, method: 'GET', accessToken: RFC.accessToken };
  const [before, after] = [at(RFC.iat), at(RFC.iat)];
  const proofs = [await key.proof({ ...options, nonce: before.nonces.current() })];
  expect(await refusal(after.prove(key.thumbprint, { ...request, proofs }))).toBe('dpop_nonce_required');
  expect(await refusal(before.prove(key.thumbprint, { ...request, proofs }))).toBe('accepted');
});

test('quotes neither token nor proof when it refuses', async () => {
  const key = await createDpopKey();
  const accessToken = 'canary-token';
  const jwt = await key.proof({ url: 'https://other.test/', accessToken, claims: { jti: 'canary-jti' } });
  const judged = at(RFC.iat).prove(key.thumbprint, { ...request, proofs: [jwt] });
  const error: unknown = await judged.catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(DpopError);
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/canary|eyJ/);
});
