import { expect, it } from 'vitest';
import { isOfGateway, judgeQuestion } from './lost-answer.ts';

const ADA = { user: 'ada', signedAt: 1000 };
const answer = (status: number, code?: string, headers = {}) => ({ status, code, headers });

it.each([
  [answer(200, undefined, { 'ori-answer': 'kept' }), 'kept', true],
  [answer(502, undefined, { 'ori-answer': 'kept' }), 'kept', true],
  [answer(404, 'call_not_received'), 'not_received', true],
  [answer(410, 'answer_lost'), 'lost', true],
  [answer(410, 'answer_too_large'), 'too_large', true],
  [answer(409, 'call_running'), 'running', false],
  [answer(401, 'proof_before_fence'), 'nothing', false],
  [answer(401, 'nonce_replayed'), 'nothing', false],
  [answer(503, 'replay_store_unavailable'), 'nothing', false],
  [answer(429), 'nothing', false],
  [answer(502), 'nothing', false],
  // A daemon that does not know the question.
  [answer(404), 'not_kept', true],
  [answer(404, 'not_found'), 'not_kept', true],
  [answer(200), 'not_kept', true],
  [answer(200, 'call_not_received'), 'not_kept', true],
  [answer(401, 'signature_invalid'), 'not_kept', true],
  [answer(500, 'internal_error'), 'not_kept', true],
])('judges the answer %j to a question', (given, outcome, isFinal) => {
  expect(judgeQuestion(given, ADA, { ...ADA, signedAt: 1300 })).toMatchObject({ outcome, isFinal });
});

it('does not send a call again because of a late question, or of one of another person', () => {
  const notReceived = answer(404, 'call_not_received');
  for (const question of [
    { user: 'ada', signedAt: 1301 },
    { user: 'bob', signedAt: 1001 },
  ])
    expect(judgeQuestion(notReceived, ADA, question)).toMatchObject({ outcome: 'lost', isFinal: true });
});

it('waits as long as the daemon says', () => {
  const busy = answer(409, 'call_running', { 'retry-after': '7' });
  expect(judgeQuestion(busy, ADA, ADA)).toMatchObject({ retryAfterSeconds: 7 });
});

it('takes the statuses of gateways for theirs, unless the answer is a refusal', () => {
  expect([502, 503, 504, 520, 524].every((status) => isOfGateway(answer(status)))).toBe(true);
  expect([200, 404, 500, 501, 505].some((status) => isOfGateway(answer(status)))).toBe(false);
  expect(isOfGateway(answer(503, 'keys_unavailable'))).toBe(false);
});
