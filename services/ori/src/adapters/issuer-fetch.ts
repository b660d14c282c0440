import { clockAheadSeconds } from '../core/clock.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { USER_AGENT } from './user-agent.ts';

/** The maximum size of an issuer's answer, in bytes. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/** `fetch` for one issuer, with additional facts from its answers. */
export interface IssuerFetch {
  readonly fetch: typeof fetch;
  /**
   * How far this computer's clock is ahead of the issuer's, in seconds, by its last answer; undefined without a Date.
   */
  clockAheadSeconds(): number | undefined;
  /** The last refresh token in an answer, even if the rest of that answer is refused. */
  lastRefreshToken(): string | undefined;
}

/**
 * Reads each answer completely, up to a limit, before openid-client parses it. Throws CliError `answer_not_understood`
 * if the answer is too long.
 */
export function createIssuerFetch(address: string, signal: AbortSignal): IssuerFetch {
  let aheadSeconds: number | undefined;
  let refreshToken: string | undefined;
  return {
    clockAheadSeconds: () => aheadSeconds,
    lastRefreshToken: () => refreshToken,
    async fetch(input, init) {
      const headers = new Headers(init?.headers);
      headers.set('user-agent', USER_AGENT);
      const signals = [signal, ...(init?.signal ? [init.signal] : [])];
      const response = await fetch(input, { ...init, headers, signal: AbortSignal.any(signals) });
      const [date, age] = [response.headers.get('date'), response.headers.get('age')];
      aheadSeconds = clockAheadSeconds({ date, age }, Math.floor(Date.now() / 1000)) ?? aheadSeconds;
      const body = await readBounded(response, address);
      if (init?.method === 'POST') refreshToken = refreshTokenIn(body) ?? refreshToken;
      const { status, statusText } = response;
      return new Response(body.length === 0 ? null : body, { status, statusText, headers: response.headers });
    },
  };
}

async function readBounded(response: Response, address: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) {
      throw new CliError('answer_not_understood', { what: 'the issuer', address, why: 'it is too long' });
    }
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function refreshTokenIn(body: Uint8Array): string | undefined {
  const value = parseJson(Buffer.from(body).toString('utf8'));
  if (typeof value !== 'object' || value === null || !('refresh_token' in value)) return undefined;
  const { refresh_token: token } = value;
  return typeof token === 'string' && token !== '' ? token : undefined;
}
