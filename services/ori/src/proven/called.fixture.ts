import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { bodySha256 } from '@ori/proof';
import { ANSWER_PROOF, createAnswerKey, signAnswer } from '@ori/proof/answer-proof';
import { createTestSigner } from '@ori/verifier/testing';
import { CliError } from '../core/errors.ts';
import { callOf } from '../core/signed-by.ts';
import { readAnswer } from '../delivery/daemon-answer.ts';
import { type Delivery, deliver } from '../delivery/deliver.ts';
import { questionPath } from '../delivery/evidence.ts';
import type { Attempt } from '../delivery/questions.ts';
import { provenDelivery } from './proving.ts';

const INTERN = 'int_proven';
const signer = createTestSigner({ internId: INTERN });
export const key = createAnswerKey(randomBytes(32));
export const other = createAnswerKey(randomBytes(32));
const BODY = '{"n":7}';
export const TEXT = '{"paid":7}';
export const JSON_TYPE = 'application/json';

export interface Reply {
  readonly status?: number;
  readonly mediaType?: string;
  readonly body?: string;
  readonly kept?: boolean;
  /** The value of the header, for the call that is answered. */
  readonly proof?: (call: string, question: string) => string | undefined;
}

export const signed = (answer: { status?: number; mediaType?: string; body?: string }, by = key) => {
  const { status = 200, mediaType = JSON_TYPE, body = TEXT } = answer;
  return (call: string) => signAnswer(by, { call, status, mediaType, body: Buffer.from(body) });
};
export const ofQuestion = (answer: Parameters<typeof signed>[0]) => (_call: string, question: string) =>
  signed(answer)(question);

export const NOT_RECEIVED = { status: 404, body: '{"error":{"code":"call_not_received"}}' };
export const GIVEN: Reply = { proof: signed({}) };
export const KEPT: Reply = { kept: true, proof: signed({}) };
export const UNSIGNED_REFUSAL: Reply = { status: 401, body: '{"error":{"code":"signature_invalid"}}' };

/** What a server in between can give in place of an answer, which its proof then does not fit. */
export const ALTERED: readonly (readonly [part: string, Reply])[] = [
  ['body', { ...GIVEN, body: '{"paid":8}' }],
  ['status', { ...GIVEN, status: 201 }],
  ['media type', { ...GIVEN, mediaType: 'text/html' }],
  ['key', { proof: signed({}, other) }],
  ['call', { proof: () => signed({})('0'.repeat(64)) }],
];

/** One call of a daemon that proves its answers: what arrives, and what arrives to each question. */
export async function called(
  first: Reply | 'cut',
  {
    questions = [],
    proofs = [],
    keys = [key.x],
    renewed = keys,
    isPassedOn,
  }: {
    questions?: readonly (Reply | 'cut')[];
    proofs?: readonly Reply[];
    keys?: readonly string[];
    renewed?: readonly string[];
    isPassedOn?: Delivery['isPassedOn'];
  } = {},
) {
  const told = { sends: 0, questions: 0, proofs: 0 };
  let call = '';
  const attempt = async (path: string, reply: Reply | 'cut', body = ''): Promise<Attempt> => {
    const request = { internId: INTERN, path, bodySha256: bodySha256(Buffer.from(body)) };
    const proof = signer.sign({ path, body, user: 'ada' });
    const digest = bodySha256(callOf(request, proof).signingInput);
    if (body !== '') call = digest;
    if (reply === 'cut') {
      const lost = new CliError('answer_lost', { address: 'x', why: 'the connection was cut' });
      return { proof, lost };
    }
    const { status = 200, mediaType = JSON_TYPE, body: text = TEXT, kept = false } = reply;
    const header = reply.proof?.(call, digest);
    const headers = {
      ...(kept && { 'ori-answer': 'kept' }),
      ...(header !== undefined && { [ANSWER_PROOF]: header }),
    };
    async function* chunks() {
      yield Buffer.from(text.slice(0, 3));
      yield Buffer.from(text.slice(3));
    }
    const response = { status, headers, mediaType, traceId: '', body: chunks(), end() {} };
    return { proof, answer: await readAnswer(response) };
  };
  const delivery: Delivery = {
    surroundings: {
      terminal: { note() {}, detail() {} } as never,
      interrupted: new AbortController().signal,
    },
    address: 'https://daemon.test',
    seconds: 300,
    keeper: { isKnown: () => false, learn: async () => undefined },
    pauseNamed: () => undefined,
    isPassedOn,
    send: () => {
      told.sends += 1;
      return attempt('/api/pay', first, BODY);
    },
    ask: (path) => {
      const isProof = path.endsWith('/proof');
      if (!path.startsWith(questionPath(''))) throw new Error(`no question: ${path}`);
      const scripted = isProof ? proofs[told.proofs++] : questions[told.questions++];
      return attempt(path, scripted ?? { status: 404, body: 'no such page', mediaType: 'text/html' });
    },
  };
  try {
    const asked = { internId: INTERN, path: '/api/pay', bodySha256: bodySha256(Buffer.from(BODY)) };
    const by = provenDelivery(delivery, { ...asked, proof: undefined }, keys, async () => renewed);
    const { answer } = await deliver(by);
    const body = String(await buffer(answer.body));
    return { ...told, status: answer.status, body };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { ...told, code: error.code, why: String(error.facts['why' as never]) };
  }
}
