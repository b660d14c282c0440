import { expect, test } from 'vitest';
import { requirePossession } from './binding.ts';
import type { DpopErrorCode } from './dpop-error.ts';
import type { VerifiedProof } from './possession.ts';

const provenBy = (thumbprint: string) => ({ thumbprint }) as VerifiedProof;

test.each<[string, ...Parameters<typeof requirePossession>, DpopErrorCode | undefined]>([
  [
    'a bound token with a proof by its key',
    { scheme: 'dpop', keyThumbprint: 'a' },
    provenBy('a'),
    true,
    undefined,
  ],
  [
    'a bound token with a proof by another',
    { scheme: 'dpop', keyThumbprint: 'a' },
    provenBy('b'),
    false,
    'dpop_binding_refused',
  ],
  [
    'a bound token without a proof',
    { scheme: 'bearer', keyThumbprint: 'a' },
    undefined,
    false,
    'dpop_binding_refused',
  ],
  [
    'an unbound token as DPoP',
    { scheme: 'dpop', keyThumbprint: undefined },
    undefined,
    false,
    'dpop_binding_refused',
  ],
  ['an unbound token', { scheme: 'bearer', keyThumbprint: undefined }, undefined, false, undefined],
  [
    'an unbound token where bound ones are required',
    { scheme: 'bearer', keyThumbprint: undefined },
    undefined,
    true,
    'dpop_required',
  ],
])('%s', (_, credential, proven, required, code) => {
  const judge = () => requirePossession(credential, proven, required);
  if (code === undefined) expect(judge).not.toThrow();
  else expect(judge).toThrow(expect.objectContaining({ code }));
});
