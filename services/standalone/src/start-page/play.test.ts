import { expect, it } from 'vitest';
import { sentenceOf } from './play.ts';

it.each([
  ['proof_missing', 'V3'],
  ['proof_malformed', 'V4'],
  ['proof_expired', 'V12'],
  ['signature_invalid', 'V15'],
  ['proof_before_fence', 'N4'],
  ['nonce_replayed', 'N7'],
])('finds the sentence of %s', (code, id) => {
  const found = sentenceOf(code);
  expect(found?.id).toBe(id);
  expect(found?.text).toMatch(/^\S.*MUST.*\.$/);
});

it('finds none for a code of somebody else', () => {
  expect(sentenceOf('not_found')).toBeUndefined();
});
