import { ProofError, parseJwkSet, UnavailableError, type VerificationKey } from '@ori/proof';
import {
  type Answers,
  createVerifier,
  memoryReplayStore,
  type OpenProof,
  type ReplayPolicy,
  type ReplayStore,
  type VerifiedProof,
  type Verifier,
} from '@ori/verifier';
import { keepAnswers } from '@ori/verifier/answers';
import type { Command, Configuration, RequestCommand, Verdict } from './protocol.ts';

type Recorder = ReturnType<Answers['record']>;
type Answer = Awaited<NonNullable<ReturnType<Answers['ask']>>>;

/** `@ori/verifier` with the memory store behind the conformance protocol; see README.md. */
export function createSubject(): (command: Command) => Verdict | Promise<Verdict> {
  const clock = { verifierMs: 0, storeMs: 0 };
  const open = new Map<string, OpenProof>();
  /** The calls that run, by nonce. */
  const running = new Map<string, Recorder>();
  const policies: ReplayPolicy[] = [];
  let store: ReplayStore;
  let entriesMax: number | undefined;
  let keys: readonly VerificationKey[] = [];
  let verifier: Verifier;

  const replay: ReplayStore = {
    attach(policy) {
      policies.push(policy);
      store.attach?.(policy);
    },
    spend: (spend) => store.spend(spend),
    answers: {
      keep: (call, end) => store.answers?.keep(call, end),
      ask: (question) => store.answers?.ask(question) ?? 'lost',
    },
  };

  function restart(): void {
    store = memoryReplayStore({ now: () => clock.storeMs, entriesMax });
    for (const policy of policies) store.attach?.(policy);
  }

  function setClock({ now, storeNow = now }: { now?: number; storeNow?: number }): void {
    if (now === undefined || storeNow === undefined) return;
    clock.verifierMs = now * 1000;
    clock.storeMs = storeNow * 1000;
  }

  function use({ answers, ...options }: Configuration): void {
    verifier = createVerifier({
      ...options,
      answers: answers ? keepAnswers() : undefined,
      keys: { current: () => keys },
      replay,
      now: () => clock.verifierMs,
    });
  }

  async function present(request: RequestCommand): Promise<Verdict> {
    return await verdictOf(
      () => verifier.verify({ ...request, body: bytesOf(request.bodyBase64) }),
      toVerdict,
    );
  }

  /** A call runs from here on; a question is answered. */
  async function toVerdict(proof: VerifiedProof): Promise<Verdict> {
    const { answers } = verifier;
    const answer = await answers?.ask(proof);
    if (answer !== undefined) return ofAnswer(answer);
    if (answers !== undefined) running.set(proof.nonce ?? '', answers.record(proof));
    return ofProof(proof);
  }

  return (command) => {
    if ('now' in command) setClock(command);
    switch (command.do) {
      case 'hello':
        return {
          verdict: 'ready',
          name: '@ori/verifier',
          features: ['store-clock', 'interns', 'store-limit', 'answers'],
        };
      case 'start':
        return refusable(() => {
          keys = keysOf(command.jwks);
          open.clear();
          policies.length = 0;
          entriesMax = command.storeEntriesMax;
          setClock({ now: command.storeSince });
          restart();
          use(command.verifier);
        });
      case 'keys':
        return refusable(() => {
          keys = keysOf(command.jwks);
        });
      case 'verifier':
        return refusable(() => use(command.verifier));
      case 'restart':
        restart();
        return { verdict: 'done' };
      case 'present':
        return present(command);
      case 'race':
        return Promise.all(command.requests.map(present)).then((verdicts) => ({ verdict: 'done', verdicts }));
      case 'begin':
        return verdictOf(() => {
          open.set(command.request, verifier.begin(command));
          return undefined;
        });
      case 'body':
        open.get(command.request)?.update(bytesOf(command.bodyBase64));
        return { verdict: 'continue' };
      case 'finish':
        return verdictOf(() => {
          const begun = open.get(command.request);
          if (begun === undefined) throw new TypeError(`no request ${command.request} was begun`);
          open.delete(command.request);
          begun.update(bytesOf(command.bodyBase64));
          return begun.finish();
        }, toVerdict);
      case 'answer': {
        const recorder = running.get(command.nonce);
        recorder?.begin(command.status, joined(command.rawHeaders));
        recorder?.end(bytesOf(command.bodyBase64));
        running.delete(command.nonce);
        return { verdict: 'done' };
      }
    }
  };
}

function ofProof({ user, internId, version, nonce, ...proof }: VerifiedProof): Verdict {
  const issuedAt = proof.issuedAt.getTime() / 1000;
  return {
    verdict: 'ok',
    proof: { user, internId, version, issuedAt, ...(nonce === undefined ? {} : { nonce }) },
  };
}

function ofAnswer({ status, headers, body }: Answer): Verdict {
  if (headers['ori-answer'] === 'kept') {
    const bodyBase64 = Buffer.from(body).toString('base64');
    return { verdict: 'kept', answer: { status, headers, bodyBase64 } };
  }
  const pause = headers['retry-after'];
  const verdict: string = JSON.parse(String(body)).error.code;
  return { verdict, ...(pause !== undefined && { retryAfterSeconds: Number(pause) }) };
}

function joined(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** By their text: many scripts have the same keys, and a key is judged once. */
const known = new Map<string, readonly VerificationKey[]>();
function keysOf(jwks: unknown): readonly VerificationKey[] {
  const text = JSON.stringify(jwks);
  const keys = known.get(text) ?? parseJwkSet(jwks);
  known.set(text, keys);
  return keys;
}

const bytesOf = (base64: string): Uint8Array => Buffer.from(base64, 'base64');

function refusable(use: () => void): Verdict {
  try {
    use();
    return { verdict: 'done' };
  } catch {
    return { verdict: 'refused' };
  }
}

async function verdictOf(
  judge: () => Promise<VerifiedProof> | undefined,
  toVerdict: (proof: VerifiedProof) => Promise<Verdict> | Verdict = ofProof,
): Promise<Verdict> {
  try {
    const proof = await judge();
    if (proof === undefined) return { verdict: 'continue' };
    return await toVerdict(proof);
  } catch (error) {
    if (error instanceof UnavailableError) return { verdict: error.code };
    if (!(error instanceof ProofError)) throw error;
    const { code, retryAfterSeconds } = error;
    return retryAfterSeconds === undefined ? { verdict: code } : { verdict: code, retryAfterSeconds };
  }
}
