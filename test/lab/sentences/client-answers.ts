import {
  ALTERED,
  called,
  GIVEN,
  KEPT,
  NOT_RECEIVED,
  ofQuestion,
  type Reply,
  signed,
  TEXT,
  UNSIGNED_REFUSAL,
} from '../../../services/ori/src/proven/called.fixture.ts';

// node client-answers.ts: the title of the first answer that `ori` takes for the daemon's and is not, or does not take and is.

const statement: Reply = { ...NOT_RECEIVED, kept: true, proof: ofQuestion(NOT_RECEIVED) };
const ofOther: Reply = { ...KEPT, proof: () => signed({})('0'.repeat(64)) };
const silent: Reply = { status: 404, body: '' };
const passed = { isPassedOn: () => true };
type Told = Parameters<typeof called>;

const FALSE: readonly (readonly [title: string, ...Told])[] = [
  ...ALTERED.map(([part, reply]) => [`an answer with another ${part}`, reply] as const),
  ...ALTERED.slice(0, 3).map(([part, reply]) => {
    const later = { ...reply, proof: () => undefined };
    return [`another ${part}, whose proof was taken away`, later, { proofs: [GIVEN, GIVEN, GIVEN] }] as const;
  }),
  ['an answer that nothing proves', {}],
  [
    'a refusal that nothing proves',
    UNSIGNED_REFUSAL,
    { questions: [NOT_RECEIVED, NOT_RECEIVED, NOT_RECEIVED] },
  ],
  ['the kept answer of another call', 'cut', { questions: [ofOther, ofOther, ofOther] }],
  ['a statement that is called the kept answer', 'cut', { questions: [statement, statement, statement] }],
  ['a stream that nothing proves', {}, { ...passed, questions: [silent, silent, silent] }],
  [
    'a stream that was changed',
    { body: '{"paid":8}' },
    { ...passed, proofs: [GIVEN, GIVEN, GIVEN], questions: [KEPT] },
  ],
];
const TRUE: readonly (readonly [title: string, ...Told])[] = [
  ['an answer that its proof fits', GIVEN],
  ['a kept answer that its proof fits', 'cut', { questions: [KEPT] }],
  [
    'a refusal of a call that was not received',
    UNSIGNED_REFUSAL,
    { questions: [{ ...statement, kept: false }] },
  ],
];

Math.random = () => -1;
for (const [title, ...told] of [...FALSE, ...TRUE]) {
  const { body, status } = { body: undefined, status: undefined, ...(await called(...told)) };
  const isGiven = status !== undefined;
  if (isGiven !== TRUE.some(([name]) => name === title) || (status === 200 && body !== TEXT)) {
    process.stdout.write(title);
    break;
  }
}
