import { PRESENTATIONS } from '@ori/api/refusals';
import { BodyError } from '@ori/http/body';
import { DeadlineError } from '@ori/http/deadline';
import { DpopError } from '@ori/identity/dpop/error';
import { IdentityError } from '@ori/identity/identity-error';
import { BusyError } from '@ori/runtime/busy-error';
import type { Budget } from '@ori/runtime/metrics';
import { expect, test } from 'vitest';
import { DependencyError } from '../core/dependency-error.ts';
import { SigningError } from '../core/stages/signing-error.ts';
import { REFUSAL_REASONS, reasonOf, toPresentation } from './presentations.ts';
import { presentBusy } from './signer-app.ts';

const { rate_limited: LIMITED, internal_error: FAILED, ...others } = PRESENTATIONS;
const again = (presentation: typeof LIMITED) => ({ ...presentation, headers: { 'Retry-After': '1' } });

test.each([
  [new BusyError('account'), again(LIMITED), 'rate_limited'],
  [new BusyError('process'), again(FAILED), 'internal_error'],
  [new DependencyError('redis', ''), again(FAILED), 'internal_error'],
  [new IdentityError('bearer_refused', ''), others.bearer_refused, 'bearer_refused'],
  [new IdentityError('issuer_unavailable', ''), undefined, 'internal_error'],
  [new IdentityError('issuer_misconfigured', ''), others.configuration_error, 'configuration_error'],
  [new DpopError('dpop_required', ''), others.dpop_required, 'dpop_required'],
  [new SigningError('not_found', ''), others.not_found, 'not_found'],
  [new DeadlineError(5), { status: 408 }, 'timeout'],
  [new BodyError('body_aborted', ''), undefined, 'client_gone'],
  [new TypeError(), undefined, 'internal_error'],
  [Object.assign(new Error(), { budget: 'account' }), undefined, 'internal_error'],
])('%o is presented, and counted by its reason', (error, presentation, reason) => {
  expect(toPresentation(error)).toEqual(presentation && expect.objectContaining(presentation));
  expect(reasonOf(error)).toBe(reason);
});

test('every reason is counted from the start', () => {
  expect(REFUSAL_REASONS).toEqual([...Object.keys(PRESENTATIONS), 'timeout', 'client_gone']);
});

test.each<[Budget, string | undefined, object]>([
  ['address', '/v1/interns/int_1/daemon/sign', again(LIMITED)],
  ['connection', '/v1/interns/int_1/daemon/sign?a', again(LIMITED)],
  ['process', '/v1/interns/int_1/daemon/sign', again(FAILED)],
  ['address', '/v1/interns/int_1/daemon/signs', again(FAILED)],
  ['address', undefined, again(FAILED)],
])('a request beyond the limit of %s to %s is presented', (budget, url, presentation) => {
  expect(presentBusy({ url } as never, budget)).toEqual(presentation);
});
