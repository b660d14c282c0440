import type { TurnVerdict } from './turn.ts';

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), and `Retry-After` on a refusal. */
export function rateLimitHeaders(verdict: TurnVerdict): Record<string, string> {
  const { scope, remaining, resetSeconds, policies, retryAfterSeconds } = verdict;
  return {
    RateLimit: `"${scope}";r=${remaining};t=${resetSeconds}`,
    'RateLimit-Policy': policies
      .map((policy) => `"${policy.scope}";q=${policy.limit};w=${policy.windowSeconds}`)
      .join(', '),
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
  };
}
