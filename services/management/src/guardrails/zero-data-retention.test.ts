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

it('clears each flag that is not given when the deprecated flag is null', () => {
  expect(spreadEnforceZdr({ enforce_zdr: null, enforce_zdr_other: true })).toEqual({
    enforce_zdr_anthropic: null,
    enforce_zdr_google: null,
    enforce_zdr_openai: null,
    enforce_zdr_other: true,
  });
});

it('does not change any flag if the deprecated flag is not given', () => {
  expect(spreadEnforceZdr({ enforce_zdr_openai: true })).toEqual({ enforce_zdr_openai: true });
});
