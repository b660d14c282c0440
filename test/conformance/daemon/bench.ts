import { setTimeout as pause } from 'node:timers/promises';
import { type RawAnswer, type RawRequest, send } from '../../env/raw-http.ts';
import {
  CLAIM,
  type Claim,
  type Header,
  INTERN_KEY,
  jwk,
  proofHeaders,
  type TestKey,
} from '../../vectors/proof.ts';
import type { KeyAnswer, KeySource } from './key-server.ts';

/** The status of each code (SPEC.md, section 5). Written out: the suite does not take its expectations from the library. */
export const STATUSES: Readonly<Record<string, number>> = {
  proof_missing: 401,
  proof_malformed: 401,
  proof_version_not_accepted: 401,
  request_not_coverable: 401,
  proof_expired: 401,
  proof_not_yet_valid: 401,
  key_unknown: 401,
  signature_invalid: 401,
  nonce_replayed: 401,
  nonce_not_issued: 401,
  proof_before_fence: 401,
  answers_not_kept: 404,
  body_too_large: 413,
  body_incomplete: 400,
  internal_error: 500,
  keys_unavailable: 503,
  replay_store_unavailable: 503,
  replay_store_unsafe: 503,
  replay_store_full: 503,
};

/** A running daemon, and the key set that it fetches. */
export interface Daemon {
  readonly url: URL;
  readonly keys: KeySource;
}

/** How a request differs from a good one. */
export interface Change {
  readonly claim?: Partial<Claim>;
  readonly headers?: (headers: readonly Header[]) => readonly Header[];
  readonly target?: string;
  readonly method?: string;
  readonly body?: Buffer;
  readonly raw?: Partial<RawRequest>;
}

/** A refusal that was received. */
export interface Refusal {
  readonly answer: RawAnswer;
  readonly request: RawRequest;
}

let drawn = 0;
export function newNonce(): string {
  drawn += 1;
  const bytes = crypto.getRandomValues(Buffer.alloc(16));
  bytes.writeUInt32BE(drawn, 0);
  return bytes.toString('base64url');
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

export const setOf = (...keys: readonly TestKey[]): KeyAnswer => ({
  body: JSON.stringify({ keys: keys.map(({ publicKey }) => jwk(publicKey)) }),
});
export const GOOD: KeyAnswer = setOf(INTERN_KEY);

export function createBench(
  daemon: Daemon,
  { internId, path, bodyBytesMax }: { internId: string; path: string; bodyBytesMax: number },
  refusals: Refusal[],
) {
  function request({ claim, headers, target, method, body, raw }: Change = {}): RawRequest {
    const whole = { ...CLAIM, internId, path, nonce: newNonce(), timestamp: String(nowSeconds()), ...claim };
    const sent: Header[] = [
      ['Host', daemon.url.host],
      ['Content-Type', 'application/json'],
      ...proofHeaders(whole),
    ];
    return {
      method: method ?? 'POST',
      target: target ?? whole.path,
      headers: headers?.(sent) ?? sent,
      body: body ?? whole.body,
      ...raw,
    };
  }

  async function tell(change?: Change): Promise<RawAnswer> {
    const asked = request(change);
    const answer = await send(daemon.url, asked);
    if (codeOf(answer) !== undefined) refusals.push({ answer, request: asked });
    return answer;
  }

  let isFenced = false;

  return {
    daemon,
    path,
    bodyBytesMax,
    request,
    tell,
    /** Whether the daemon refused by a fence that it set within this run, minutes ago at most (REPLAY-STORES.md, N4). */
    sawFence: (): boolean => isFenced,
    /** Sends requests until one is past the fence. */
    async ready(): Promise<void> {
      for (let attempt = 0; attempt < 6; attempt++) {
        const answer = await tell();
        if (answer.status === 200) return;
        const code = codeOf(answer);
        isFenced ||= code === 'proof_before_fence';
        // A first fetch may time out on a busy machine; it is repeated after 10 s.
        if (code !== 'proof_before_fence' && code !== 'keys_unavailable') {
          throw new Error(`a good proof: ${textOf(answer)}`);
        }
        await pause(Number(answer.headers.get('retry-after') ?? 5) * 1000);
      }
      throw new Error('no proof was accepted');
    },
  };
}

/** Sends requests to one daemon, and keeps its refusals for the checks of section 5. */
export type Bench = ReturnType<typeof createBench>;

/** The code of SPEC.md in an answer. */
export function codeOf({ body }: RawAnswer): string | undefined {
  const code = errorOf(body)?.code;
  return typeof code === 'string' && code in STATUSES ? code : undefined;
}

export function errorOf(body: string): { code?: unknown; message?: unknown } | undefined {
  try {
    return (JSON.parse(body) as { error?: object }).error;
  } catch {
    return undefined;
  }
}

export function textOf(answer: RawAnswer): string {
  if (answer.status === undefined) return 'no answer';
  return `${answer.status} ${codeOf(answer) ?? ''}`.trim();
}
