import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Evidence, evidenceOf, judgeQuestion, type Known, stepAfter } from './evidence.ts';

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
  [answer(500), 'nothing', false],
  [answer(408), 'nothing', false],
  [answer(499), 'nothing', false],
  [answer(503, 'keys_unavailable'), 'nothing', false],
  [answer(404, 'answers_not_kept'), 'not_kept', true],
  // A daemon that does not know the question, or a gateway that does not pass it on.
  [answer(404), 'not_understood', true],
  [answer(404, 'not_found'), 'not_understood', true],
  [answer(200), 'not_understood', true],
  [answer(200, 'call_not_received'), 'not_understood', true],
  [answer(401, 'signature_invalid'), 'not_understood', true],
  [answer(500, 'internal_error'), 'not_understood', true],
])('judges the answer %j to a question', (given, outcome, isFinal) => {
  expect(judgeQuestion(given, ADA, { ...ADA, signedAt: 1300 })).toMatchObject({ outcome, isFinal });
});

it('does not send a call again because of a late question, or of one of another person', () => {
  const notReceived = answer(404, 'call_not_received');
  for (const question of [
    { user: 'ada', signedAt: 1301 },
    { user: 'bob', signedAt: 1001 },
    { user: 'ada', signedAt: 999 },
  ])
    expect(judgeQuestion(notReceived, ADA, question)).toMatchObject({ outcome: 'lost', isFinal: true });
});

it('waits as long as the daemon says', () => {
  const busy = answer(409, 'call_running', { 'retry-after': '7' });
  expect(judgeQuestion(busy, ADA, ADA)).toMatchObject({ retryAfterSeconds: 7 });
});

const ROWS: readonly (readonly [ReturnType<typeof answer>, Evidence])[] = [
  [answer(200), 'answered'],
  [answer(302), 'answered'],
  [answer(404), 'answered'],
  [answer(409, 'sold_out'), 'answered'],
  [answer(401), 'answered'],
  [answer(401, 'signature_invalid'), 'refused'],
  [answer(413, 'body_too_large'), 'refused'],
  [answer(503, 'keys_unavailable'), 'refused'],
  [answer(502, 'daemon_unreachable'), 'refused'],
  [answer(503, 'busy'), 'refused'],
  [answer(401, 'proof_expired'), 'late'],
  [answer(401, 'nonce_replayed'), 'repeated'],
  // lighttpd; Spring Cloud Gateway and Fastify, whose codes are not in the form of a refusal.
  [answer(500), 'failed'],
  [answer(500, 'internal_error'), 'failed'],
  [answer(502), 'failed'],
  [answer(503, 'unknown_code'), 'failed'],
  // A gateway with a code of its own, or with one of ours under a status of its own.
  [answer(502, 'bad_gateway'), 'failed'],
  [answer(502, 'signature_invalid'), 'failed'],
  [answer(504), 'failed'],
  [answer(530), 'failed'],
  [answer(598), 'failed'],
  [answer(408), 'failed'],
  [answer(460), 'failed'],
  [answer(499), 'failed'],
];
it.each(ROWS)('judges what %j is evidence of', (given, evidence) => {
  expect(evidenceOf(given)).toBe(evidence);
});

const SOME: Omit<Known, 'outcome'> = { keepsAnswers: true, sends: 1 };

describe('the table of REPLAY-STORES.md, "For clients"', () => {
  const page = readFileSync(
    new URL('../../../../libs/public/proof/REPLAY-STORES.md', import.meta.url),
    'utf8',
  );
  const rows = [...page.matchAll(/^\| .*? \| (\w+) \| (no|5 s|yes) \| (once|no) \| (.*?) \|$/gm)].map((row) =>
    row.slice(1),
  );

  it.each(rows)('%s: asked %s, signed again %s', (name, isAsked, again, unknown) => {
    const evidence = name as Evidence;
    const first = stepAfter(evidence, SOME);
    expect(first).toEqual(
      { no: 'give', '5 s': { ask: 5 }, yes: { ask: Number.POSITIVE_INFINITY } }[isAsked as 'no'],
    );
    const after = (outcome: Known['outcome'], more = {}) =>
      stepAfter(evidence, { ...SOME, ...more, outcome });
    if (isAsked === 'no') return;
    expect(after('not_received') === 'sign').toBe(again === 'once');
    expect(after('not_received', { sends: 2 })).not.toBe('sign');
    expect(after('not_received', { keepsAnswers: false })).not.toBe('sign');
    expect(after('kept')).toBe('give_kept');
    const isGiven = unknown?.startsWith('the answer') ?? false;
    for (const outcome of ['nothing', 'not_kept', 'not_understood'] as const)
      expect(after(outcome)).toBe(isGiven ? 'give' : 'lose');
    for (const outcome of ['running', 'lost', 'too_large'] as const) expect(after(outcome)).toBe('lose');
  });

  it('has a row for each kind of evidence', () => {
    expect(rows.map(([name]) => name).sort()).toEqual(
      [...new Set(ROWS.map(([, name]) => name)), 'lost', 'unproven'].sort(),
    );
  });
});
