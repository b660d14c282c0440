import { createPublicKey, verify } from 'node:crypto';
import type { RawAnswer } from '../../env/raw-http.ts';
import { CLAIM, type Claim, inputV2, netstrings, sha256 } from '../../vectors/proof.ts';
import { INTERN_ID } from '../../vectors/scenario.ts';
import { pathOf } from '../../wings/lost-answers/conformance/answer-checks.ts';
import { type Bench, errorOf, newNonce, nowSeconds, textOf } from './bench.ts';
import type { Check } from './checks.ts';

const HEADER = /^([A-Za-z0-9_-]{43})(?: ([A-Za-z0-9_-]{86}))?$/;

interface Exchange {
  readonly claim: Claim;
  readonly answer: RawAnswer;
}

/** A request, whose every field is known. */
async function exchange(bench: Bench, change: Partial<Claim>): Promise<Exchange> {
  const fields = {
    internId: INTERN_ID,
    path: bench.path,
    nonce: newNonce(),
    timestamp: String(nowSeconds()),
  };
  const claim = { ...CLAIM, ...fields, ...change };
  return { claim, answer: await bench.tell({ claim }) };
}

const call = (bench: Bench, wanted: object = {}) =>
  exchange(bench, { body: Buffer.from(JSON.stringify({ prompt: 'hello', answer: wanted })) });
const ask = (bench: Bench, { nonce }: Pick<Claim, 'nonce'>, part = '') =>
  exchange(bench, { path: pathOf(nonce) + part, body: Buffer.alloc(0) });

const headerOf = ({ headers }: RawAnswer): string => headers.get('ori-answer-proof') ?? '';

/** What is wrong with this header as the proof of this answer to this request; undefined if nothing is. */
function wrongWith(header: string, { status, headers, body }: RawAnswer, claim: Claim): string | undefined {
  const [, x, signature] = HEADER.exec(header) ?? [];
  if (x === undefined) return `ori-answer-proof: ${JSON.stringify(header)}`;
  if (signature === undefined) return 'no signature';
  const bytes = Buffer.from(body, 'latin1');
  const input = netstrings(
    ...['ori-answer-v1', sha256(inputV2(claim)), String(status)],
    ...[headers.get('content-type') ?? '', String(bytes.length), sha256(bytes)],
  );
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, input, key, Buffer.from(signature, 'base64url'))
    ? undefined
    : 'the signature does not fit';
}

/** The complete header: that of the head, or the one that a question gets. */
async function wholeOf(bench: Bench, { claim, answer }: Exchange): Promise<string> {
  const header = headerOf(answer);
  return HEADER.exec(header)?.[2] === undefined
    ? headerOf((await ask(bench, claim, '/proof')).answer)
    : header;
}

const provenBy = async (bench: Bench, given: Exchange): Promise<string | undefined> =>
  wrongWith(await wholeOf(bench, given), given.answer, given.claim);

/** For daemons with an answer key (SPEC.md, appendix A). */
export const PROOF_CHECKS: readonly Check[] = [
  {
    sentence: 'P1',
    title: 'signs exactly the bytes of an answer to this call',
    run: async (bench) => provenBy(bench, await call(bench, { status: 201, headers: { 'x-own': '1' } })),
  },
  {
    sentence: 'P2',
    title: 'gives a kept answer with its own signature, and another answer with one for the question',
    async run(bench) {
      const first = await call(bench);
      const kept = await ask(bench, first.claim);
      const unknown = await ask(bench, { nonce: newNonce() });
      return (
        wrongWith(headerOf(kept.answer), kept.answer, first.claim) ??
        wrongWith(headerOf(unknown.answer), unknown.answer, unknown.claim)
      );
    },
  },
  {
    sentence: 'P3',
    title: 'names one key in each head',
    async run(bench) {
      const heads = [
        headerOf((await call(bench)).answer),
        headerOf((await call(bench, { bytes: 70_000 })).answer),
      ];
      const keys = new Set(heads.map((head) => HEADER.exec(head)?.[1]));
      return keys.size === 1 && !keys.has(undefined) ? undefined : heads.join('; ');
    },
  },
  {
    sentence: 'P4',
    title: 'signs an error of the handler, an answer without a body, and one that must not be stored',
    async run(bench) {
      for (const wanted of [{ status: 500 }, { status: 404 }, { headers: { 'cache-control': 'no-store' } }]) {
        const given = await call(bench, wanted);
        const isNamed = HEADER.test(headerOf(given.answer));
        const wrong = isNamed ? await provenBy(bench, given) : 'its head names no key';
        if (wrong !== undefined) return `${JSON.stringify(wanted)}: ${wrong}`;
      }
      return undefined;
    },
  },
  {
    sentence: 'P5',
    title: 'signs no refusal',
    async run(bench) {
      const { claim } = await call(bench);
      const replayed = await bench.tell({ claim });
      const spoilt = await bench.tell({ body: Buffer.from('{ }') });
      const signed = [replayed, spoilt].find((answer) => headerOf(answer) !== '');
      return signed === undefined ? undefined : `${textOf(signed)} is signed`;
    },
  },
  {
    sentence: 'P6',
    title: 'gives the proof of an answer that is too large to keep, or not to be stored, without a body',
    async run(bench) {
      for (const wanted of [{}, { bytes: 1_500_000 }, { headers: { 'cache-control': 'no-store' } }]) {
        const { claim, answer } = await call(bench, wanted);
        const asked = (await ask(bench, claim, '/proof')).answer;
        if (asked.body !== '') return `${JSON.stringify(wanted)}: a body of ${asked.body.length} bytes`;
        const wrong = wrongWith(headerOf(asked), answer, claim);
        if (wrong !== undefined) return `${JSON.stringify(wanted)}: ${wrong}`;
      }
      const unknown = (await ask(bench, { nonce: newNonce() }, '/proof')).answer;
      const code = String(errorOf(unknown.body)?.code);
      return /^(?:call_not_received|answer_lost)$/.test(code)
        ? undefined
        : `of an unknown call, ${textOf(unknown)}`;
    },
  },
];
