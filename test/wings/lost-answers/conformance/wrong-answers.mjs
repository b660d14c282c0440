// A daemon that keeps answers, and does one thing wrong: node wrong-answers.mjs WRONG INTERN JWKS. Each must fail the suite with
// --answers --proofs, by the sentence that it breaks. `right` must pass.

import { createServer } from 'node:http';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { keepAnswers } from '@ori/verifier/answers';
import { requireProof } from '@ori/verifier/node';

const store = memoryReplayStore();
const { keep, ask } = store.answers;
const isAnswer = (end) => typeof end === 'object';
const users = new Map();
const kept = new Map();
/** What each does in the place of the store: `spend`, `keep`, `ask`; or of the verifier: `answer`, from the one that is right. */
const WRONG = {
  right: ['', {}],
  'is certain after a start': ['N20', { ask: (q) => (ask(q) === 'lost' ? 'not_received' : ask(q)) }],
  'changes its mind': ['N20', { ask: (q) => (users.has(q.nonce) ? ask(q) : changing(q)) }],
  'destroys what another asks for': [
    'N21',
    {
      ask(q) {
        if (users.has(q.nonce) && users.get(q.nonce) !== q.user) void keep(callOf(q), 'lost');
        return ask(q);
      },
    },
  ],
  'tells another that there is a call': ['N21', { ask: (q) => (isOthers(q) ? 'not_received' : ask(q)) }],
  'gives an answer to anybody': ['N21', { ask: (q) => ask({ ...q, user: users.get(q.nonce) ?? q.user }) }],
  'gives every answer with 200': [
    'N16',
    { answer: (a) => ('ori-answer' in a.headers ? { ...a, status: 200 } : a) },
  ],
  'gives its cookies': ['N16', { answer: (a) => withHeader(a, 'set-cookie', 'session=1') }],
  'gives no headers': [
    'N16',
    { answer: (a) => ('ori-answer' in a.headers ? { ...a, headers: { 'ori-answer': 'kept' } } : a) },
  ],
  'gives no mark': ['N16', { answer: (a) => ({ ...a, headers: { ...a.headers, 'ori-answer': 'new' } }) }],
  'gives an answer once': [
    'N16',
    {
      ask(q) {
        const end = ask(q);
        if (isAnswer(end)) void keep(callOf(q), 'lost');
        return end;
      },
    },
  ],
  'gives half an answer': ['N16', { keep: (c, end) => keep(c, isAnswer(end) ? half(end) : end) }],
  'cuts what is too large': [
    'N18',
    {
      keep: (c, end) =>
        keep(c, end === 'too_large' ? { status: 200, headers: {}, body: Buffer.from('x') } : end),
    },
  ],
  'never says that a call runs': ['N17', { ask: (q) => (ask(q) === 'running' ? 'lost' : ask(q)) }],
  'says that it runs without a time': ['N17', { answer: (a) => withHeader(a, 'retry-after', undefined) }],
  'says that it runs forever': ['N17', { keep() {} }],
  'records a call when it has ended': [
    'N15',
    {
      ask: (q) => kept.get(q.nonce) ?? (ask(q) === 'running' ? 'lost' : ask(q)),
      keep: (c, end) => kept.set(c.nonce, end) && keep(c, end),
    },
  ],
  'has an answer to a question': [
    'N18',
    { ask: (q) => (ask(q) === 'lost' && spent.has(q.nonce) ? half(EMPTY) : ask(q)) },
  ],
  'voids nothing': ['N19', { ask: (q) => (users.has(q.nonce) || spent.has(q.nonce) ? ask(q) : 'lost') }],
  'voids nothing for another': [
    'N19',
    { ask: (q) => (q.user === 'user_mallory' && !users.has(q.nonce) ? 'lost' : ask(q)) },
  ],
  'signs its refusals': ['P5', { before: (res) => res.setHeader('ori-answer-proof', 'A'.repeat(43)) }],
  'spends no question': ['N14', { spend: (s) => (s.caller === undefined ? 'spent' : store.spend(s)) }],
};

const spent = new Set();
const asked = new Map();
const EMPTY = { status: 200, headers: {}, body: Buffer.from('ab') };
const callOf = ({ policy, user, nonce }) => ({ policy, user: users.get(nonce) ?? user, nonce });
const isOthers = ({ nonce, user }) => users.has(nonce) && users.get(nonce) !== user;
const half = (end) => ({ ...end, body: end.body.subarray(0, end.body.length / 2) });
function withHeader(answer, name, value) {
  const { [name]: _, ...headers } = answer.headers;
  return { ...answer, headers: value === undefined ? headers : { ...headers, [name]: value } };
}
function changing(q) {
  const end = ask(q);
  const times = asked.get(q.nonce) ?? 0;
  asked.set(q.nonce, times + 1);
  return times === 0 ? end : 'too_large';
}

const [name = '', internId = '', jwks = ''] = process.argv.slice(2);
if (name === '--list') {
  console.log(JSON.stringify(Object.entries(WRONG).map(([title, [sentence]]) => [title, sentence])));
  process.exit();
}
const [, wrong] = WRONG[name];
const replay = {
  attach: store.attach,
  spend(s) {
    const verdict = (wrong.spend ?? store.spend)(s);
    spent.add(s.nonce);
    if (s.caller !== undefined) users.set(s.nonce, s.caller);
    return verdict;
  },
  answers: { keep: wrong.keep ?? keep, ask: wrong.ask ?? ask },
};
const key = new Uint8Array(32).fill(7);
const right = createVerifier({
  internId,
  keys: createRemoteKeySet(jwks),
  replay,
  answers: keepAnswers({ key }),
});
const answers = {
  ...right.answers,
  ask: (proof) => right.answers.ask(proof)?.then((answer) => (wrong.answer ?? ((a) => a))(answer)),
};
const guarded = requireProof(
  { ...right, answers },
  { bodyBytesMax: 100_000 },
  async (_req, res, { proof, body }) => {
    const { status = 200, headers = {}, afterMs = 0, bytes = 0 } = askedOf(body);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify({ user: proof.user, filler: 'x'.repeat(bytes) }));
  },
);
function askedOf(body) {
  try {
    return JSON.parse(body).answer ?? {};
  } catch {
    return {};
  }
}
const server = createServer((req, res) => {
  wrong.before?.(res);
  guarded(req, res);
}).listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
