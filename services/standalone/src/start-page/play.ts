import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { bodySha256, newestSignature, parseProofHeaders, signingInput } from '@ori/proof';
import { randomDPoPKeyPair } from 'openid-client';
import { type SignedIn, signIn } from '../sign-in.ts';

export interface Daemon {
  readonly url: string;
  readonly internId: string;
}

/** What the page plays with: the real services of the standalone. */
export interface Stage {
  readonly baseUrl: string;
  readonly issuer: string;
  /** By the name of their interns. The first one is called. */
  readonly daemons: Readonly<Record<'greeter' | 'analytical', Daemon>>;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** What demands it; absent for what SPEC.md leaves to others, such as the gate. */
  readonly sentence?: Sentence | undefined;
}

/** Signs a demo member in, with a session of its own that is bound to a new key. */
export async function sessionOf({ baseUrl, issuer }: Stage, user: string, scope: string): Promise<SignedIn> {
  const key = await randomDPoPKeyPair('ES256');
  const scopes = `openid ${scope}`;
  return signIn({ issuer, clientId: 'ori-cli', resource: baseUrl, user, scope: scopes, key });
}

export async function askApi(
  stage: Stage,
  { user, method, url, body }: { user: string; method: string; url: URL; body: string | undefined },
) {
  const session = await sessionOf(stage, user, 'vault:read interns');
  const response = await session.send(url.href, body, method);
  const type = response.headers.get('content-type') ?? 'no content';
  const bytes = Buffer.from(await response.arrayBuffer());
  const content = /json|text/.test(type) ? bytes.toString() : `${type}, ${bytes.length} bytes`;
  return { status: response.status, content, refusal: response.ok ? undefined : refusalIn(content) };
}

export async function askForProof(
  { baseUrl, daemons }: Stage,
  session: SignedIn,
  { path, body }: Omit<Call, 'proof'>,
  { internId } = daemons.greeter,
) {
  const digest = bodySha256(Buffer.from(body));
  const asked = JSON.stringify({ bodySha256: digest, route: { method: 'POST', path } });
  const response = await session.send(`${baseUrl}/interns/${internId}/daemon/sign`, asked);
  const content = await response.text();
  if (!response.ok) return { status: response.status, asked, refusal: refusalIn(content) };
  const proof: Call['proof'] = JSON.parse(content);
  return { status: response.status, asked, proof, signed: signedText(internId, { path, body, proof }) };
}

export type ProofAnswer = Awaited<ReturnType<typeof askForProof>>;

export interface Call {
  readonly path: string;
  readonly body: string;
  readonly proof: Readonly<Record<string, string>>;
}

/** Sends a call to a daemon, with the path as it is: `fetch` would normalise it. */
export async function sendCall({ url, internId }: Daemon, call: Call) {
  const { hostname, port } = new URL(url);
  const headers = { 'content-type': 'application/json', ...call.proof };
  const sent = request({ hostname, port, path: call.path, method: 'POST', headers, agent: false });
  sent.end(call.body);
  const [response] = await once(sent, 'response');
  const content = await text(response);
  const status: number = response.statusCode;
  /** The bytes for which the daemon needs a signature. */
  const expected = signedText(internId, call);
  const { 'content-type': mediaType = '', 'ori-answer-proof': answerProof = '' } = response.headers;
  return { status, mediaType, content, answerProof, expected, refusal: refusalIn(content) };
}

export type CallAnswer = Awaited<ReturnType<typeof sendCall>>;

/** Calls analytical, and judges its answer as a client does: as it was sent, and with one byte changed on its way back. */
export async function changeAnswer(stage: Stage, session: SignedIn, call: Omit<Call, 'proof'>) {
  const { createAnswerKeyReader } = await import('@ori/proof/answer-keys');
  const { answerSigningInput, readAnswerProof, verifyAnswer } = await import('@ori/proof/answer-proof');
  const { analytical } = stage.daemons;
  const { proof = {}, signed = '' } = await askForProof(stage, session, call, analytical);
  const { status, mediaType, content, answerProof } = await sendCall(analytical, { ...call, proof });
  const published = await fetch(`${stage.baseUrl}/interns/${analytical.internId}/daemon/jwks.json`);
  const keySet = new Uint8Array(await published.arrayBuffer());
  const { keys } = createAnswerKeyReader()({ body: keySet, statement: null, now: Date.now() });
  const { x = '', signature = new Uint8Array() } = readAnswerProof(answerProof) ?? {};
  const judge = (arrived: string) => {
    const body = Buffer.from(arrived);
    const answer = { call: bodySha256(Buffer.from(signed)), status, mediaType, body };
    const isProven = keys.includes(x) && verifyAnswer(x, answer, signature);
    const refusal = { code: 'answer_lost', message: 'What arrived is not what the daemon sent.' };
    /** The bytes for which the client needs a signature. */
    const expected = Buffer.from(answerSigningInput(answer)).toString('latin1');
    return { content: arrived, expected, refusal: isProven ? undefined : refusal };
  };
  const next = (character: string) => String.fromCharCode(character.charCodeAt(0) + 1);
  return { sent: judge(content), arrived: judge(content.replace(/[a-y0-8](?=[^a-y0-8]*$)/, next)) };
}

export type ChangedAnswer = Awaited<ReturnType<typeof changeAnswer>>;

/** What the signature has to cover; undefined unless it is a whole single-use proof. */
function signedText(internId: string, { path, body, proof }: Call): string | undefined {
  try {
    const presented = parseProofHeaders(Object.entries(proof).flat());
    const { timestamp, user } = presented;
    const { version, nonce } = newestSignature(presented);
    if (nonce === undefined) return undefined;
    const request = { method: 'POST', path, bodySha256: bodySha256(Buffer.from(body)) } as const;
    const input = signingInput(version, { internId, timestamp, nonce, user, ...request });
    return Buffer.from(input).toString('ascii');
  } catch {
    return undefined;
  }
}

/** Both the signer's envelope, whose code is a number beside a reason, and the verifier's. */
function refusalIn(content: string): Refusal | undefined {
  try {
    const { code, message, metadata } = JSON.parse(content).error;
    const reason = String(metadata?.reason ?? code);
    return { code: reason, message: String(message), sentence: sentenceOf(reason) };
  } catch {
    return undefined;
  }
}

/** A normative sentence of the protocol, by its id. */
interface Sentence {
  readonly id: string;
  readonly text: string;
}

const DOCUMENTS = ['SPEC.md', 'REPLAY-STORES.md'].map(
  (name) => new URL(`../${name}`, import.meta.resolve('@ori/proof')),
);

/** A sentence ends where the next one begins, or with its paragraph. */
const SENTENCE = /\[([A-Z]\d+)\] ([\s\S]+?)(?=\s+(?:- )?\[[A-Z]\d+\] |\n\n)/g;

const SENTENCES: readonly Sentence[] = DOCUMENTS.flatMap((document) => [
  ...readFileSync(document, 'utf8').matchAll(SENTENCE),
]).map(([, id = '', text = '']) => ({ id, text: text.replace(/\s+/g, ' ') }));

/** The sentence that demands a refusal: the first one that names its code. Undefined for codes of others. */
export function sentenceOf(code: string): Sentence | undefined {
  return SENTENCES.find(({ text }) => text.includes(`\`${code}\``));
}
