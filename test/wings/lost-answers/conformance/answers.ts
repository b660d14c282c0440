import { codeOf, errorOf, type Refusal, STATUSES } from '../../../conformance/daemon/bench.ts';

/** What section 5 requires of every refusal. */
const RULES: Readonly<Record<string, (refusal: Refusal) => string | undefined>> = {
  E1: ({ answer }) => {
    const expected = STATUSES[codeOf(answer) ?? ''];
    return answer.status === expected ? undefined : `${codeOf(answer)} with status ${answer.status}`;
  },
  E2: ({ answer }) => {
    const error = errorOf(answer.body);
    return typeof error?.message === 'string' && error.message !== '' ? undefined : 'no message';
  },
  E3: ({ answer }) =>
    answer.status !== 401 || answer.headers.get('www-authenticate') === 'Ori-Proof'
      ? undefined
      : `${codeOf(answer)} without WWW-Authenticate: Ori-Proof`,
  E4: ({ answer }) => {
    const pause = answer.headers.get('retry-after');
    if (codeOf(answer) !== 'proof_before_fence')
      return pause === undefined ? undefined : `${codeOf(answer)} carries it`;
    return /^[1-9][0-9]*$/.test(pause ?? '') ? undefined : `Retry-After is ${pause}`;
  },
  E5: ({ answer, request }) => {
    if (answer.headers.get('cache-control') !== 'no-store') return `${codeOf(answer)} may be stored`;
    const text = [...answer.headers].join('\n') + answer.body;
    const told = request.headers.find(
      ([name, value]) => name.startsWith('x-ori-') && value.length > 3 && text.includes(value),
    );
    return told === undefined ? undefined : `it contains the value of ${told[0]}`;
  },
};

/** The sentences about every refusal. */
export const ANSWER_SENTENCES = Object.keys(RULES);

/** The first difference of each sentence over all refusals of a run. */
export function judgeAnswers(
  refusals: readonly Refusal[],
): { sentence: string; title: string; difference?: string }[] {
  return Object.entries(RULES).map(([sentence, rule]) => {
    const difference = refusals.map(rule).find((found) => found !== undefined);
    const title = `answers ${refusals.length} refusals as required`;
    return difference === undefined ? { sentence, title } : { sentence, title, difference };
  });
}
