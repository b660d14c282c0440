import { expect, test } from 'vitest';
import { KeyError } from '../errors.ts';
import { parseJwkSet } from '../read-jwk-set.ts';
import { sets } from '../rooted-sets.fixture.ts';
import { createAnswerKeyReader } from './answer-keys.ts';

const ours = sets.filter(({ answers }) => answers.some(({ answerKeys }) => answerKeys !== undefined));

function judge(
  read: ReturnType<typeof createAnswerKeyReader>,
  { bodyBase64, statement, now }: (typeof sets)[0]['answers'][0],
) {
  const body = bodyBase64 === undefined ? undefined : Buffer.from(bodyBase64, 'base64');
  try {
    return read({ body, statement: statement ?? null, now });
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return error.code;
  }
}

test.each(ours)('$title', ({ baseUrl, internId, roots, answers }) => {
  const read = createAnswerKeyReader({ roots: parseJwkSet({ keys: roots }), baseUrl, internId });
  for (const answer of answers) {
    const { answerKeys: keys, until, answerKeysUntil = until } = answer;
    expect(judge(read, answer)).toEqual(Array.isArray(keys) ? { keys, until: answerKeysUntil } : keys);
  }
});

test.each(ours)('without a root: $title', ({ answers }) => {
  const read = createAnswerKeyReader();
  for (const answer of answers) {
    const { answerKeys: keys } = answer;
    const { 'ori.answers': entries } = JSON.parse(
      Buffer.from(answer.bodyBase64 ?? '', 'base64').toString() || '{}',
    );
    const published = keys === 'key_unstated' ? entries.map(({ x }: { x: string }) => x) : keys;
    expect(judge(read, answer)).toEqual(Array.isArray(published) ? { keys: published } : published);
  }
});

test.each(['', 'null', '[]', '{"ori.answers":[]}', '\xff'])('says of %j that it is no key set', (text) => {
  const read = createAnswerKeyReader();
  const bodyBase64 = Buffer.from(text, 'latin1').toString('base64');
  expect(judge(read, { bodyBase64, now: 0, expect: '' })).toBe('key_set_malformed');
  expect(judge(read, { now: 0, expect: '' })).toBe('key_set_malformed');
});

test('believes nothing of a set that its root does not vouch for', () => {
  for (const { title, baseUrl, internId, roots, answers } of sets) {
    const read = createAnswerKeyReader({ roots: parseJwkSet({ keys: roots }), baseUrl, internId });
    for (const answer of answers) {
      const verdict = judge(read, answer);
      if (answer.expect !== 'ok') expect(verdict, title).toEqual(expect.any(String));
    }
  }
});
