import { createRing } from '@ori/test-env/scenario';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { KekRing } from './kek-ring.ts';
import { open, type SealContext } from './open.ts';
import { reseal, seal, sealedPrefix, sealedUnder } from './seal.ts';
import { seedContext } from './seed-context.ts';

const SEED = new Uint8Array(32).map((_, index) => index + 1);
const KEY = { id: 'key_1', internId: 'int_1' };
const CONTEXT = seedContext(KEY);
const refused = (code: string) => ({ name: 'SealingError', code });
const join = (...rings: KekRing[]) =>
  new KekRing(new Map(rings.map(({ primary }) => [primary.kid, primary.key])));

describe('a sealed text', () => {
  const ring = createRing();

  it('opens under its key and context, and shows neither plaintext', async () => {
    const sealed = await seal(ring, SEED, CONTEXT);
    expect(await open(ring, sealed, CONTEXT)).toEqual(SEED);
    expect(decodeProtectedHeader(sealed)).toMatchObject({
      alg: 'A256GCMKW',
      enc: 'A256GCM',
      kid: ring.primary.kid,
      ctx: { table: 'signing_keys', column: 'sealed_seed', row: 'key_1', internId: 'int_1' },
    });
    expect(sealed).not.toContain(Buffer.from(SEED).toString('base64url').slice(0, 20));
  });

  it('is a JWE that another implementation opens, and opens as another implementation made it', async () => {
    const { kid, key } = ring.primary;
    const { plaintext } = await compactDecrypt(await seal(ring, SEED, CONTEXT), key);
    expect(plaintext).toEqual(SEED);
    const made = await new CompactEncrypt(SEED)
      .setProtectedHeader({ alg: 'A256GCMKW', enc: 'A256GCM', kid, ctx: { ...CONTEXT } })
      .encrypt(key);
    expect(await open(ring, made, CONTEXT)).toEqual(SEED);
  });

  it('does not open with a shortened tag, which GCM alone would accept', async () => {
    const parts = (await seal(ring, SEED, CONTEXT)).split('.');
    const shortened = [...parts.slice(0, 4), parts[4]?.slice(0, 16)].join('.');
    await expect(open(ring, shortened, CONTEXT)).rejects.toMatchObject(refused('undecryptable'));
  });

  it('differs each time', async () => {
    expect(await seal(ring, SEED, CONTEXT)).not.toBe(await seal(ring, SEED, CONTEXT));
  });

  it.each<[string, SealContext]>([
    ['row', seedContext({ ...KEY, id: 'key_2' })],
    ['intern', seedContext({ ...KEY, internId: 'int_2' })],
    ['column', { ...CONTEXT, column: 'sealed_key' }],
    ['table', { ...CONTEXT, table: 'byok_credentials' }],
    ['context with a member more', { ...CONTEXT, workspaceId: 'ws_1' }],
    ['context with a member less', { table: 'signing_keys', column: 'sealed_seed', row: 'key_1' }],
  ])('does not open for another %s', async (_what, other) => {
    await expect(open(ring, await seal(ring, SEED, CONTEXT), other)).rejects.toMatchObject(
      refused('context_mismatch'),
    );
  });

  it('does not open with a header rewritten for another place', async () => {
    const [header = '', ...rest] = (await seal(ring, SEED, CONTEXT)).split('.');
    const moved = JSON.parse(Buffer.from(header, 'base64url').toString());
    moved.ctx.row = 'key_2';
    const forged = [Buffer.from(JSON.stringify(moved)).toString('base64url'), ...rest].join('.');
    const there = seedContext({ ...KEY, id: 'key_2' });
    await expect(open(ring, forged, there)).rejects.toMatchObject(refused('undecryptable'));
  });

  it('does not open without its key, and names the missing one', async () => {
    const sealed = await seal(createRing(), SEED, CONTEXT);
    await expect(open(ring, sealed, CONTEXT)).rejects.toMatchObject(refused('unknown_kek'));
    await expect(open(ring, sealed, CONTEXT)).rejects.toThrow(sealedUnder(sealed));
  });

  it('does not open under another key of the same kid', async () => {
    const sealed = await seal(ring, SEED, CONTEXT);
    const impostor = new KekRing(new Map([[ring.primary.kid, createRing().primary.key]]));
    await expect(open(impostor, sealed, CONTEXT)).rejects.toMatchObject(refused('undecryptable'));
  });

  it('does not open if any part was changed', async () => {
    const parts = (await seal(ring, SEED, CONTEXT)).split('.');
    for (const index of [1, 2, 3, 4]) {
      const changed = parts.map((part, place) =>
        place === index ? `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}` : part,
      );
      await expect(open(ring, changed.join('.'), CONTEXT)).rejects.toMatchObject(refused('undecryptable'));
    }
  });

  it('does not open with a sixth part', async () => {
    const longer = `${await seal(ring, SEED, CONTEXT)}.AAAA`;
    await expect(open(ring, longer, CONTEXT)).rejects.toMatchObject(refused('undecryptable'));
  });

  it.each(['', 'x', 'a.b.c', 'a.b.c.d.e', '....', 'null'])(
    'that is malformed (%j) does not open',
    async (text) => {
      await expect(open(ring, text, CONTEXT)).rejects.toMatchObject(refused('undecryptable'));
    },
  );

  it.each<[string, object]>([
    ['another key wrap', { alg: 'dir', enc: 'A256GCM' }],
    ['AES-KW', { alg: 'A256KW', enc: 'A256GCM' }],
    ['another encryption', { alg: 'A256GCMKW', enc: 'A128CBC-HS256' }],
    ['an unknown header member', { alg: 'A256GCMKW', enc: 'A256GCM', jku: 'https://evil.test' }],
  ])('with %s does not open, even if made with the right key', async (_what, header) => {
    const { kid, key } = ring.primary;
    const made = await new CompactEncrypt(SEED)
      .setProtectedHeader({ alg: 'A256GCMKW', enc: 'A256GCM', ...header, kid, ctx: { ...CONTEXT } })
      .encrypt(key);
    await expect(open(ring, made, CONTEXT)).rejects.toMatchObject(refused('undecryptable'));
  });

  it('is re-sealed under the first key of the ring, once', async () => {
    const next = createRing();
    const both = join(next, ring);
    const sealed = await seal(ring, SEED, CONTEXT);
    const fresh = await reseal(both, sealed, CONTEXT);
    expect(sealedUnder(fresh)).toBe(next.primary.kid);
    expect(await open(next, fresh, CONTEXT)).toEqual(SEED);
    expect(await reseal(both, fresh, CONTEXT)).toBe(fresh);
  });

  it.each(['a', 'ab', 'abc', 'signer-0123456789abcdef'])(
    'begins with the prefix of its KEK %s',
    async (kid) => {
      const under = new KekRing(new Map([[kid, ring.primary.key]]));
      for (const context of [CONTEXT, { ...CONTEXT, table: 'other' }]) {
        const sealed = await seal(under, SEED, context);
        expect(sealed.startsWith(sealedPrefix(kid))).toBe(true);
        for (const other of [`${kid}0`, `0${kid}`, kid.slice(0, -1), `${kid.slice(0, -1)}0`]) {
          expect(sealed.startsWith(sealedPrefix(other))).toBe(false);
        }
      }
    },
  );

  it('is not re-sealed for another context', async () => {
    const sealed = await seal(ring, SEED, CONTEXT);
    const elsewhere = seedContext({ ...KEY, id: 'key_2' });
    await expect(reseal(join(createRing(), ring), sealed, elsewhere)).rejects.toMatchObject(
      refused('context_mismatch'),
    );
  });
});
