import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ALTERED,
  called,
  GIVEN,
  KEPT,
  key,
  NOT_RECEIVED,
  ofQuestion,
  other,
  type Reply,
  signed,
  TEXT,
  UNSIGNED_REFUSAL,
} from './called.fixture.ts';

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(-1);
});
afterEach(() => vi.restoreAllMocks());

const LOST = { code: 'answer_lost', sends: 1 };

describe('an answer', () => {
  it('that its proof fits is given, and costs no question', async () => {
    expect(await called(GIVEN)).toEqual({ sends: 1, questions: 0, proofs: 0, status: 200, body: TEXT });
    const error = { status: 500, body: 'sold out' };
    expect(await called({ ...error, proof: signed(error) })).toMatchObject({ status: 500, questions: 0 });
  });

  it.each(ALTERED)('with another %s is as if it were lost', async (_part, reply) => {
    expect(await called(reply, { questions: [KEPT] })).toMatchObject({ sends: 1, status: 200, body: TEXT });
    expect(await called(reply)).toMatchObject({ ...LOST, questions: 3 });
  });

  it.each<[string, Reply]>([
    ['whose body was not known with its head', { proof: () => key.x }],
    ['whose proof was taken away', {}],
  ])('%s is given after one question for its proof', async (_name, reply) => {
    expect(await called(reply, { proofs: [{ status: 204, body: '', proof: signed({}) }] })).toEqual({
      sends: 1,
      questions: 0,
      proofs: 1,
      status: 200,
      body: TEXT,
    });
  });

  it('without a proof is not given', async () => {
    expect(await called({})).toMatchObject({ ...LOST, proofs: 3, questions: 3 });
    expect(await called({ body: '{"paid":8}' }, { questions: [KEPT] })).toMatchObject({ body: TEXT });
  });
});

describe('a refusal', () => {
  it('is given if it is proven that the call was not received', async () => {
    const proof = ofQuestion(NOT_RECEIVED);
    expect(await called(UNSIGNED_REFUSAL, { questions: [{ ...NOT_RECEIVED, proof }] })).toMatchObject({
      status: 401,
      sends: 1,
      questions: 1,
    });
  });

  it('is not, if nobody proves it or the call was carried out', async () => {
    expect(
      await called(UNSIGNED_REFUSAL, { questions: [NOT_RECEIVED, NOT_RECEIVED, NOT_RECEIVED] }),
    ).toMatchObject(LOST);
    expect(await called(UNSIGNED_REFUSAL, { questions: [KEPT] })).toMatchObject({ status: 200, body: TEXT });
  });
});

describe('a lost answer', () => {
  it('is signed again once, after a proven call_not_received alone', async () => {
    const proven = { ...NOT_RECEIVED, proof: ofQuestion(NOT_RECEIVED) };
    expect(await called('cut', { questions: [proven, proven] })).toMatchObject({
      code: 'answer_lost',
      sends: 2,
    });
    expect(await called('cut', { questions: [NOT_RECEIVED, NOT_RECEIVED, NOT_RECEIVED] })).toMatchObject(
      LOST,
    );
    // That of the call's own digest is no statement about it.
    const ofCall = { ...NOT_RECEIVED, proof: signed(NOT_RECEIVED) };
    expect(await called('cut', { questions: [ofCall, ofCall, ofCall] })).toMatchObject(LOST);
  });

  it('is not the kept one of another call, nor a statement that is called kept', async () => {
    const statement = { ...NOT_RECEIVED, kept: true, proof: ofQuestion(NOT_RECEIVED) };
    const another = { kept: true, proof: () => signed({})('0'.repeat(64)) };
    expect(await called('cut', { questions: [statement, another, statement] })).toMatchObject(LOST);
  });
});

describe('an answer that is passed on while it arrives', () => {
  const passed = { isPassedOn: () => true };

  it('ends well after its proof, or after the kept one that it is the beginning of', async () => {
    const proofs = [{ status: 204, body: '', proof: signed({}) }];
    expect(await called({ proof: () => key.x }, { ...passed, proofs })).toMatchObject({
      body: TEXT,
      proofs: 1,
    });
    const half = { body: TEXT.slice(0, 5), proof: () => key.x };
    expect(await called(half, { ...passed, questions: [KEPT] })).toMatchObject({ body: TEXT });
  });

  it('is also one that is too long to be held back', async () => {
    const body = 'x'.repeat(64 * 1024 * 1024 + 1);
    expect(await called({ body, proof: signed({ body }) })).toMatchObject({ status: 200, questions: 0 });
    expect(await called({ body, proof: signed({}) })).toMatchObject({ ...LOST, questions: 3 });
  });

  it.each<[string, Reply, Reply]>([
    ['it is another', { body: '{"paid":8}' }, KEPT],
    ['its media type is another', { mediaType: 'text/html' }, KEPT],
    ['nobody proves it', {}, { status: 404 }],
  ])('throws at its end if %s', async (_name, reply, answer) => {
    expect(await called(reply, { ...passed, questions: [answer] })).toMatchObject(LOST);
  });
});

// Rotated, removed, and another daemon's.
describe('keys that are read again', () => {
  it('prove what the known ones do not', async () => {
    const answered = await called({ proof: signed({}, other) }, { renewed: [key.x, other.x] });
    expect(answered).toMatchObject({ status: 200, questions: 0 });
  });

  it('end the proofs of a daemon that has none any more, and then everything is as without them', async () => {
    expect(await called({}, { renewed: [] })).toMatchObject({ status: 200, body: TEXT, proofs: 0 });
    expect(await called(UNSIGNED_REFUSAL, { renewed: [] })).toMatchObject({ status: 401, questions: 0 });
  });
});
