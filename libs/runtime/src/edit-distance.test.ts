import { expect, it } from 'vitest';
import { nearest } from './edit-distance.ts';

const names = ['SIGNER_PORT', 'SIGNER_HOST', 'SIGNER_TURNS_PER_USER'];

it.each([
  ['SIGNER_PROT', 'SIGNER_PORT'],
  ['SIGNER_HOTS', 'SIGNER_HOST'],
  ['SIGNER_TURN_PER_USER', 'SIGNER_TURNS_PER_USER'],
  ['SIGNER_TURNS_USER', undefined],
  ['SOMETHING', undefined],
])('takes %s for %s', (word, meant) => {
  expect(nearest(word, names)).toBe(meant);
});
