export const INTRODUCTION = `Interns are named, model-backed agents that live in a workspace. This API lists them, signs the calls that people make to their daemons, keeps provider credentials (BYOK), API keys, workspaces and their members, and manages guardrails.

## Credentials

Every operation requires \`Authorization: Bearer …\`, except those marked public.

| Credential | What it is for |
|---|---|
| API key | The interns of its workspace; an intern's own key: that intern alone |
| Management key | BYOK, guardrails, API keys, workspaces and members of its account |
| Session of \`ori login --oidc\` | Signing, with the scope \`vault:read\`; interns of the person's workspaces, with the scope \`interns\` |

A session may be bound to a key (DPoP, RFC 9449). Then it is sent as \`Authorization: DPoP …\` with a fresh proof in \`DPoP\`, and is good for nothing without one. Besides the claims of RFC 9449 the proof has \`x-camara:bh\`: the SHA-256 of the request's exact content in base64url, also where there is none. A proof is good once and carries the nonce of the last \`DPoP-Nonce\` header; a request without it is answered 401 with \`error="use_dpop_nonce"\` and a nonce to repeat it with.

A program finds the issuer and the scopes of a session in \`/.well-known/oauth-protected-resource/v1\` (RFC 9728), at the origin of the base address and before its path. It is public.

An API key names no person, so it cannot sign. A management key opens no intern.

The examples read an API key from \`ORI_API_KEY\` and a management key from \`ORI_MANAGEMENT_KEY\`. Those for a session send what \`ori headers\` prints after \`ori login\`: the access token and, of a bound session, the proof of this one request.

## Errors

Every failure is \`application/json\` of one shape, those of a gateway too:

\`\`\`json
{
  "error": {
    "code": 404,
    "message": "Not found.",
    "metadata": { "reason": "not_found", "retryable": false }
  }
}
\`\`\`

\`code\` is the HTTP status. \`metadata\` comes with intern operations only: \`reason\` is for programs, \`retryable\` says whether the same request may succeed later. What is absent, hidden and somebody else's get the same 404.

An unknown path is 404, a known one with another method 405 with \`Allow\`. Bytes that are no valid HTTP/1.1 request are refused with 400, 408, 417 or 431 before any operation is chosen.

A request that is refused for overload may be repeated after the seconds of \`Retry-After\`: 429 where you have too many requests in progress, 503 where the service has too much to do or its database is down. Signing, interns, and the list and change of BYOK credentials answer 500 with \`Retry-After\` instead. A 500 without it is a failure of ours.

## Changes

A PATCH changes what it names. The record may be sent back as it was read: members that it cannot change are accepted as they are, and refused with 400 if they differ.

## Safe repetition

- Records carry a strong \`ETag\`. Send it as \`If-Match\` with a PATCH or DELETE: if the record changed in the meantime, the answer is 412 and nothing is changed.
- Every POST of management takes an \`Idempotency-Key\`. For 24 hours, the same key with the same content from the same caller gets the first answer again and does nothing; with other content it gets 422, and 409 while the first request is running. A refused request did nothing, and its key may be used again.

## Lists

Interns are paged by cursor: pass \`next_cursor\` as \`starting_after\`. All other lists are paged by \`offset\` and \`limit\`, and \`total_count\` counts every match. A query parameter of the operation may be given once. One that is not known is refused where the operation has 400, and ignored elsewhere.

## Request ids

Every answer carries \`X-Request-Id\`. Quote it when you ask for help.`;

export const TAGS = [
  {
    name: 'Interns',
    description:
      'The interns that are visible to an API key or a session, and the proofs that their daemons require. Requests on a regional host name are refused, and callers outside the interns programme are answered 404.',
  },
  {
    name: 'BYOK',
    description:
      'Provider credentials of the account (bring your own key). The raw provider key is encrypted at rest and never returned. Takes a management key.',
  },
  {
    name: 'Guardrails',
    description:
      'Named policies (allowed and ignored models and providers, zero data retention, content filters, a spending limit), and the API keys and members they are assigned to. A key or member has at most one guardrail. Takes a management key.',
  },
  {
    name: 'API keys',
    description:
      'The ordinary API keys of the account, each of one workspace. A key is shown once, when it is created. Takes a management key, except for `GET /key`.',
  },
  {
    name: 'Workspaces',
    description: 'The workspaces of the account and their members. Takes a management key.',
  },
  { name: 'Organization', description: 'The people of the account. Takes a management key.' },
  { name: 'Discovery', description: 'Discovery for programs. Public.' },
];
