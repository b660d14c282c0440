import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../vocabulary.ts';
import { applyUpdate, type CredentialFacts } from './apply-update.ts';
import type { ByokUpdate, DeclaredRegion } from './credential.ts';

const plain: CredentialFacts = {
  provider: 'openai',
  is_fallback: false,
  is_byok_only: false,
  is_required: false,
  key_region: null,
};
const refused = expect.objectContaining({ name: 'AdminError', code: 'invalid_input' });
const structured = (region: DeclaredRegion) => JSON.stringify({ api_key: 'sk-0123456789', region });
const change = (update: ByokUpdate, stored: Partial<CredentialFacts> = {}) =>
  applyUpdate({ ...plain, ...stored }, update);

describe('applyUpdate', () => {
  it('sets the given fields only', () => {
    expect(change({ name: null, disabled: true })).toEqual({ name: null, disabled: true });
  });

  it.each([
    [{ is_fallback: true, is_byok_only: true }, {}],
    [{ is_fallback: true }, { is_byok_only: true }],
    [{ is_byok_only: true }, { is_fallback: true }],
    [{ is_required: true }, { is_fallback: true }],
    [{ is_fallback: true }, { is_required: true }],
  ])('refuses flags that exclude each other on the resulting record: %j over %j', (update, stored) => {
    expect(() => change(update, stored)).toThrow(refused);
  });

  it('accepts flags that would exclude each other if one were not cleared with it', () => {
    expect(() => change({ is_fallback: true, is_byok_only: false }, { is_byok_only: true })).not.toThrow();
  });

  it('rotates a key with its label, which is all that it reveals of the key', () => {
    const columns = change({ key: 'sk-proj-0123456789abcdefghijkl' });
    expect(columns).toEqual({ label: 'sk-...ijkl', key_region: null });
  });

  it('derives the region from a structured key', () => {
    const columns = change({ key: structured('europe') });
    expect(columns).toMatchObject({ key_region: 'europe', declared_region: 'europe' });
  });

  it('makes the label of a structured key from its api_key', () => {
    expect(change({ key: structured('us') }).label).toBe('s...89');
  });

  it('derives the region again when a structured key is replaced by a plain one', () => {
    const columns = change({ key: 'sk-plain' }, { key_region: 'us' });
    expect(columns).toMatchObject({ key_region: null, declared_region: null });
  });

  it.each([
    '{"api_key":"k"}',
    '{"api_key":"","region":"us"}',
    '{"api_key":"k","region":"mars"}',
    '{"api_key":"k","region":"us","region":"europe"}',
    '{"api_key":"k","region":"us","r\\u0065gion":"europe"}',
    '{"api_key":"\\"","api_key":"k","region":"us"}',
    '{"api_key":',
  ])('refuses the broken structured key %s', (key) => {
    expect(() => change({ key })).toThrow(refused);
  });

  it('requires a declared region to match the region in the resulting key', () => {
    expect(() => change({ declared_region: 'us' }, { key_region: 'europe' })).toThrow(refused);
    expect(() => change({ declared_region: 'us', key: structured('europe') }, { key_region: 'us' })).toThrow(
      refused,
    );
    expect(() => change({ declared_region: 'us', key: structured('us') })).not.toThrow();
  });

  it('allows null always: undeclared', () => {
    for (const provider of PROVIDERS)
      expect(() => change({ declared_region: null }, { provider })).not.toThrow();
  });

  it.each([
    ['azure', ['europe', 'us']],
    ['anthropic', ['us']],
    ['mistral', ['global', 'europe', 'us']],
    ['openai', ['global']],
  ] as const)('lets %s declare %j and no other region', (provider, allowed: readonly DeclaredRegion[]) => {
    for (const declared_region of ['global', 'europe', 'us'] as const) {
      const attempt = () => change({ declared_region }, { provider });
      if (allowed.includes(declared_region)) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(refused);
    }
  });
});
