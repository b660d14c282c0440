import { expect, it } from 'vitest';
import { spreadEnforceZdr } from './zero-data-retention.ts';

it('copies the deprecated flag into each flag that is not given', () => {
  expect(spreadEnforceZdr({ enforce_zdr: true, enforce_zdr_google: false })).toEqual({
    enforce_zdr_anthropic: true,
    enforce_zdr_google: false,
    enforce_zdr_openai: true,
    enforce_zdr_other: true,
  });
});

it.each([undefined, null])('does not change any flag if the deprecated flag is %s', (enforce_zdr) => {
  expect(spreadEnforceZdr({ enforce_zdr, enforce_zdr_openai: true })).toEqual({ enforce_zdr_openai: true });
});
