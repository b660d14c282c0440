import type { TurnVerdict } from './turn.ts';

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), and `Retry-After` on a refusal. */
export function rateLimitHeaders(verdict: TurnVerdict): Record<string, string> {
  const { scope, remaining, resetSeconds, limits, windowSeconds: window, retryAfterSeconds } = verdict;
  const headers: Record<string, string> = {
    RateLimit: `"${scope}";r=${remaining};t=${resetSeconds}`,
    'RateLimit-Policy': `"user";q=${limits.user};w=${window}, "organization";q=${limits.organization};w=${window}`,
  };
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  return headers;
}
