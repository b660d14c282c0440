import { expect, test } from 'vitest';
import { newCredential, requireProvider } from './new-credential.ts';

const refused = expect.objectContaining({ name: 'InvalidCredential' });

test('takes label and region from the key, and contains the key nowhere else', () => {
  const key = JSON.stringify({ api_key: 'sk-0123456789abcdefghijklmnop', region: 'us' });
  const columns = newCredential('openai', key, { name: 'n', is_fallback: true });
  expect(columns).toEqual({
    name: 'n',
    is_fallback: true,
    label: 'sk-...mnop',
    key_region: 'us',
    declared_region: 'us',
  });
});

test.each([
  ['azure', { declared_region: 'global' }],
  ['openai', { is_fallback: true, is_byok_only: true }],
  ['openai', { is_fallback: true, is_required: true }],
  ['openai', { name: 'n'.repeat(256) }],
  ['openai', { allowed_api_key_hashes: ['not a hash'] }],
] as const)('refuses for %s the same values as a change does: %j', (provider, fields) => {
  expect(() => newCredential(provider, 'sk-secret', fields as object)).toThrow(refused);
  expect(() => newCredential(provider, 'sk-secret', fields as object)).not.toThrow(/secret/);
});

test('accepts exactly the providers of the API', () => {
  expect(requireProvider('amazon-bedrock/claude-on-aws')).toBe('amazon-bedrock/claude-on-aws');
  expect(() => requireProvider('OpenAI')).toThrow(expect.objectContaining({ name: 'UsageError' }));
});
