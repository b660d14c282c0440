import { DpopError } from '@ori/identity/dpop/error';
import type { Possession, VerifiedProof } from '@ori/identity/dpop/possession';
import { expect, test } from 'vitest';
import { type SigningCall, type SigningParts, signProof } from './sign-proof.ts';
import type { authenticate } from './stages/authenticate.ts';
import type { draftProof } from './stages/draft-proof.ts';
import { ClockChecked, TurnTaken, Written } from './stages/evidence.ts';
import type { passGate } from './stages/pass-gate.ts';
import type { readRequest } from './stages/read-request.ts';
import type { record } from './stages/record.ts';
import type { requireHolder } from './stages/require-holder.ts';
import type { requireScope } from './stages/require-scope.ts';
import { NONCE_DRAWS_MAX, type reserveNonce } from './stages/reserve-nonce.ts';
import type { sign } from './stages/sign.ts';
import {
  BODY_SHA256,
  GATE,
  NONCE,
  NOW,
  ROUTE,
  SIGNING_KEY,
  TOKEN,
  VERDICT,
} from './stages/stages.fixture.ts';
import type { throttle } from './stages/throttle.ts';
import type { unlockKey } from './stages/unlock-key.ts';

type Stage = (...args: never) => unknown;
/** The stages whose first argument would do for the stage after them. */
type Omissible<Stages extends readonly Stage[]> = Stages extends readonly [
  infer One extends Stage,
  infer Next extends Stage,
  ...infer Rest extends Stage[],
]
  ? (Parameters<One>[0] extends Parameters<Next>[0] ? One : never) | Omissible<[Next, ...Rest]>
  : never;

// Fails to compile, as signing without a stage does, once a stage can be left out.
true satisfies [
  Omissible<
    [
      typeof authenticate,
      typeof requireHolder,
      typeof requireScope,
      typeof readRequest,
      typeof passGate,
      typeof unlockKey,
      typeof draftProof,
      typeof throttle,
      typeof reserveNonce,
      typeof record,
      typeof sign,
    ]
  >,
] extends [never]
  ? true
  : false;

const BODY = Buffer.from(JSON.stringify({ bodySha256: BODY_SHA256, route: ROUTE }));

/** The values of a good call, in the order in which they are asked for. */
const GOOD = {
  identify: { token: TOKEN },
  countFor: undefined,
  readBody: BODY,
  gate: GATE,
  nameIntern: undefined,
  unlock: SIGNING_KEY,
  clock: new ClockChecked(),
  draw: NONCE,
  take: new TurnTaken(VERDICT, true),
  deadline: undefined,
  append: (line: string) => new Written(line),
} as const;

/** The same for a bound session, whose DPoP proof is verified before the body is read. */
const BOUND = { identify: { token: { ...TOKEN, keyThumbprint: 'thumb' } } };

const answer = (value: unknown, ...args: unknown[]) => {
  const given = typeof value === 'function' ? value(...args) : value;
  if (given instanceof Error) throw given;
  return given;
};

/** Signs with dependencies that answer as `replaced` says, else as in a good call. */
async function attempt(replaced: Partial<Record<string, unknown>> = {}, scheme = 'Bearer') {
  const done: string[] = [];
  const ask = (what: string, ...args: unknown[]): never => {
    done.push(what);
    return answer({ ...GOOD, ...replaced }[what], ...args) as never;
  };
  const spendable = [{}];
  const take = () => spendable.pop();
  const dpop = { thumbprint: 'thumb', requireContent: () => ask('requireContent'), take };
  const possession: Possession = {
    verify: async () => ask('verify') ?? (dpop as unknown as VerifiedProof),
    spend: async () => void (take() && ask('spend')),
    unspent: async (spending) => new DpopError('dpop_proof_replayed', spending),
  };
  const call: SigningCall = {
    requestId: 'req_1',
    authority: undefined,
    network: '192.0.2.1',
    authorizations: [`${scheme} ${'x'.repeat(22)}`],
    method: 'POST',
    target: { origin: 'https://api.test', path: '/' },
    dpopProofs: [],
    internId: 'int_7Qm2',
    countFor: () => ask('countFor'),
    nameIntern: () => ask('nameIntern'),
    readBody: async () => ask('readBody'),
    deadline: { check: () => ask('deadline'), signal: new AbortController().signal },
  };
  const parts: SigningParts = {
    regionalHosts: new Set(),
    identities: { identify: async () => ask('identify') },
    possession,
    requireDpop: replaced['requireDpop'] === true,
    gate: { facts: () => ask('gate') },
    keys: { unlock: async () => ask('unlock') },
    atWork: (_, __, work) => work(),
    turns: { take: async () => ask('take'), refund: () => ask('refund') },
    nonces: { draw: () => ask('draw'), reserve: async () => ask('reserve'), onTaken: () => ask('onTaken') },
    audit: { append: async (line) => ask('append', line) },
    clock: { check: () => ask('clock') },
    now: () => NOW * 1000,
  };
  const outcome = await signProof(call, parts).catch((error: Error) => error);
  return { done, outcome };
}

test('a dependency is asked only after everything before it was decided', async () => {
  const { done, outcome } = await attempt();
  expect(outcome).toMatchObject({ bound: false, turns: VERDICT, proof: {} });
  expect(done).toEqual([...Object.keys(GOOD).slice(0, -2), 'deadline', 'append', 'deadline']);
});

test('the DPoP proof of a bound session is verified before the body is read, and spent with the turn', async () => {
  const { done, outcome } = await attempt(BOUND, 'DPoP');
  expect(outcome).toMatchObject({ bound: true });
  expect(done.slice(0, 5)).toEqual(['identify', 'verify', 'countFor', 'readBody', 'requireContent']);
  expect(done).not.toContain('spend');
});

const FAILED = new Error('failed');

test.each(['countFor', 'readBody', 'requireContent', 'gate', 'unlock', 'clock'])(
  'a bound call that ends at %s takes no turn, and its DPoP proof is spent',
  async (at) => {
    const { done, outcome } = await attempt({ ...BOUND, [at]: FAILED }, 'DPoP');
    expect(outcome).toBe(FAILED);
    expect(done.at(-1)).toBe('spend');
    expect(done).not.toContain('take');
  },
);

test('a DPoP proof that could not be verified is not spent', async () => {
  expect((await attempt({ ...BOUND, verify: FAILED }, 'DPoP')).done).toEqual(['identify', 'verify']);
});

test.each(['replayed', 'forgotten'])('no turn counts if the DPoP proof is %s', async (take) => {
  const { done, outcome } = await attempt({ ...BOUND, take }, 'DPoP');
  expect(outcome).toMatchObject({ name: 'DpopError', message: take });
  expect(done.at(-1)).toBe('take');
});

test('a caller without a key is refused where one is required, before the body is read', async () => {
  const { done, outcome } = await attempt({ requireDpop: true });
  expect(outcome).toMatchObject({ code: 'dpop_required' });
  expect(done).toEqual(['identify']);
});

test('a refused turn is not refunded', async () => {
  const { done, outcome } = await attempt({ take: new TurnTaken({ ...VERDICT, allowed: false }, false) });
  expect(outcome).toMatchObject({ code: 'rate_limited' });
  expect(done.at(-1)).toBe('take');
});

test.each(['deadline', 'append'])(
  'a turn whose call fails at %s is refunded, and nothing is signed',
  async (at) => {
    const { done, outcome } = await attempt({ [at]: FAILED });
    expect(outcome).toBe(FAILED);
    expect(done.at(-1)).toBe('refund');
  },
);

test('the deadline counts after the audit line, too', async () => {
  let checks = 0;
  const { done, outcome } = await attempt({ deadline: () => (++checks === 2 ? FAILED : undefined) });
  expect(outcome).toBe(FAILED);
  expect(done.slice(-3)).toEqual(['append', 'deadline', 'refund']);
});

test('another audit line than that of the proof signs nothing', async () => {
  const { outcome } = await attempt({ append: () => new Written('{}') });
  expect(outcome).toBeInstanceOf(TypeError);
});

test('a taken nonce is drawn anew without another turn, up to a limit', async () => {
  const taken = new TurnTaken(VERDICT, false);
  const again = await attempt({ take: taken, reserve: true });
  expect(again.outcome).toMatchObject({ bound: false });
  expect(again.done.filter((what) => what === 'take' || what === 'onTaken')).toEqual(['take', 'onTaken']);
  const { done, outcome } = await attempt({ take: taken, reserve: false });
  expect(outcome).toMatchObject({ code: 'internal_error' });
  expect(done.filter((what) => what === 'draw')).toHaveLength(NONCE_DRAWS_MAX);
  expect(done.at(-1)).toBe('refund');
});
