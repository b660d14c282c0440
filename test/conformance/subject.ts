import { ProofError, parseJwkSet, UnavailableError, type VerificationKey } from '@ori/proof';
import {
  createVerifier,
  memoryReplayStore,
  type OpenProof,
  type ReplayPolicy,
  type ReplayStore,
  type VerifiedProof,
  type Verifier,
  type VerifierOptions,
} from '@ori/verifier';
import type { Command, RequestCommand, Verdict } from './protocol.ts';

/** `@ori/verifier` with the memory store behind the conformance protocol; see README.md. */
export function createSubject(): (command: Command) => Verdict | Promise<Verdict> {
  const clock = { verifierMs: 0, storeMs: 0 };
  const open = new Map<string, OpenProof>();
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

  function use(options: Partial<VerifierOptions>): void {
    verifier = createVerifier({
      ...options,
      internId: options.internId ?? '',
      keys: { current: () => keys },
      replay,
      now: () => clock.verifierMs,
    });
  }

  async function present(request: RequestCommand): Promise<Verdict> {
    return await verdictOf(() => verifier.verify({ ...request, body: bytesOf(request.bodyBase64) }));
  }

  return (command) => {
    if ('now' in command) setClock(command);
    switch (command.do) {
      case 'hello':
        return {
          verdict: 'ready',
          name: '@ori/verifier',
          features: ['store-clock', 'interns', 'store-limit'],
        };
      case 'start':
        return refusable(() => {
          keys = parseJwkSet(command.jwks);
          open.clear();
          policies.length = 0;
          entriesMax = command.storeEntriesMax;
          setClock({ now: command.storeSince });
          restart();
          use(command.verifier);
        });
      case 'keys':
        return refusable(() => {
          keys = parseJwkSet(command.jwks);
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
        });
    }
  };
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

async function verdictOf(judge: () => Promise<VerifiedProof> | undefined): Promise<Verdict> {
  try {
    const proof = await judge();
    if (proof === undefined) return { verdict: 'continue' };
    const { user, internId, version, nonce } = proof;
    const issuedAt = proof.issuedAt.getTime() / 1000;
    return {
      verdict: 'ok',
      proof: { user, internId, version, issuedAt, ...(nonce === undefined ? {} : { nonce }) },
    };
  } catch (error) {
    if (error instanceof UnavailableError) return { verdict: error.code };
    if (!(error instanceof ProofError)) throw error;
    const { code, retryAfterSeconds } = error;
    return retryAfterSeconds === undefined ? { verdict: code } : { verdict: code, retryAfterSeconds };
  }
}
