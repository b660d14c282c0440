import { expect, test } from 'vitest';
import { type BoundCredential, keyToProve, requirePossession } from './binding.ts';
import type { VerifiedProof } from './possession.ts';

const provenBy = (thumbprint: string) => ({ thumbprint }) as VerifiedProof;

test.each<[string, BoundCredential, VerifiedProof | undefined, required: boolean, code: string | undefined]>([
  ['an unbound Bearer', { scheme: 'bearer', keyThumbprint: undefined }, undefined, false, undefined],
  ['a key that was proven', { scheme: 'dpop', keyThumbprint: 'a' }, provenBy('a'), true, undefined],
  [
    'an unbound Bearer where keys are required',
    { scheme: 'bearer', keyThumbprint: undefined },
    undefined,
    true,
    'dpop_required',
  ],
  [
    'an unbound token sent as DPoP',
    { scheme: 'dpop', keyThumbprint: undefined },
    undefined,
    true,
    'dpop_binding_refused',
  ],
  [
    'a bound token sent as Bearer',
    { scheme: 'bearer', keyThumbprint: 'a' },
    undefined,
    false,
    'dpop_binding_refused',
  ],
  ['another key', { scheme: 'dpop', keyThumbprint: 'a' }, provenBy('b'), false, 'dpop_binding_refused'],
])('judges %s', (_, credential, proven, required, code) => {
  const judge = () => requirePossession(credential, proven, required);
  if (code === undefined) expect(judge).not.toThrow();
  else expect(judge).toThrow(expect.objectContaining({ name: 'DpopError', code }));
});

test('a key must be proven only of a bound token that is sent as DPoP', () => {
  expect(keyToProve({ scheme: 'dpop', keyThumbprint: 'a' })).toBe('a');
  expect(keyToProve({ scheme: 'bearer', keyThumbprint: 'a' })).toBeUndefined();
});
