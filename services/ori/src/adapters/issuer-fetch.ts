import { clockAheadSeconds } from '../core/clock.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { readBounded } from './bounded.ts';
import { requireProxy } from './http-request.ts';
import { USER_AGENT } from './user-agent.ts';

const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * Reads each answer completely, up to a limit, before openid-client parses it. Throws CliError `answer_not_understood`
 * if the answer is too long.
 */
export function createIssuerFetch(address: string, signal: AbortSignal) {
  let aheadSeconds: number | undefined;
  let refreshToken: string | undefined;
  const tooLong = () =>
    new CliError('answer_not_understood', { what: 'the issuer', address, why: 'it is too long' });
  return {
    /**
     * How far this computer's clock is ahead of the issuer's, in seconds, by its last answer; undefined without a Date.
     */
    clockAheadSeconds: () => aheadSeconds,
    /** The last refresh token in an answer, even if the rest of that answer is refused. */
    lastRefreshToken: () => refreshToken,
    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      requireProxy(new URL(input instanceof Request ? input.url : input));
      const headers = new Headers(init?.headers);
      headers.set('user-agent', USER_AGENT);
      // A cache would answer with its old Date.
      headers.set('cache-control', 'no-cache');
      const signals = [signal, ...(init?.signal ? [init.signal] : [])];
      const response = await fetch(input, { ...init, headers, signal: AbortSignal.any(signals) });
      const [date, age] = [response.headers.get('date'), response.headers.get('age')];
      aheadSeconds = clockAheadSeconds({ date, age }, Math.floor(Date.now() / 1000)) ?? aheadSeconds;
      const body =
        response.body === null
          ? Buffer.alloc(0)
          : await readBounded(response.body, ANSWER_BYTES_MAX, tooLong);
      if (init?.method === 'POST') refreshToken = refreshTokenIn(body) ?? refreshToken;
      const { status, statusText } = response;
      const content = body.length === 0 ? null : withoutAbsent(body);
      const answered = new Headers(response.headers);
      // openid-client would report the challenge and leave the reason in the body unread.
      if (oauthCodeIn(body) !== undefined) answered.delete('www-authenticate');
      return new Response(content, { status, statusText, headers: answered });
    },
  };
}

/** `fetch` for one issuer, with additional facts from its answers. */
export type IssuerFetch = ReturnType<typeof createIssuerFetch>;

/**
 * Some issuers write an absent member as null or as an empty string, which the standards do not know (RFC 6749, section
 * 5.1; RFC 8414, section 2). An empty scope stays: no scope was granted.
 */
function withoutAbsent(body: Buffer): Buffer | string {
  const value = parseJson(body.toString('utf8'));
  if (typeof value !== 'object' || value === null) return body;
  const members = Object.entries(value);
  const present = members.filter(([name, member]) => member !== null && (member !== '' || name === 'scope'));
  return present.length === members.length ? body : JSON.stringify(Object.fromEntries(present));
}

const refreshTokenIn = (body: Buffer): string | undefined => textIn(body, 'refresh_token');
const oauthCodeIn = (body: Buffer): string | undefined => textIn(body, 'error');

function textIn(body: Buffer, name: string): string | undefined {
  const value = parseJson(body.toString('utf8'));
  const text = Object(value)[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}
