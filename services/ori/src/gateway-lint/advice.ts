type Severity = 'error' | 'warning';

interface Telling {
  /**
   * `error`, by default: a proof fails, is spent or is not verified; `warning`: it can, depending on what this
   * configuration does not show.
   */
  readonly severity?: Severity;
  /** The effect on a proof. */
  readonly what: string;
  readonly fix: string;
}

const KEEP_URI = 'Forward the raw target: proxy_pass http://NAME$request_uri;';

/** Every rule, with one sentence on the effect on a proof, and one on how to fix it. */
export const GATEWAY_RULES = {
  'path-replaced': {
    what: 'proxy_pass with a path replaces the location’s path and decodes the rest, so the daemon sees another path than was signed.',
    fix: 'Remove the path, including the last slash: proxy_pass http://NAME;',
  },
  'path-computed': {
    what: 'The path is built from variables that contain it decoded, merged or cut, so the daemon sees another path than was signed.',
    fix: KEEP_URI,
  },
  'path-unknown': {
    severity: 'warning',
    what: 'A variable may contain a path, and this configuration does not show its value; a path in it would replace the signed one.',
    fix: 'Write the upstream out, or append $request_uri to the variable.',
  },
  'path-rewritten': {
    what: 'The path is rewritten before it is forwarded, so the daemon sees another path than was signed.',
    fix: `Remove the rewrite, and let callers sign the path that the daemon serves. Or: ${KEEP_URI}`,
  },
  'path-redirected': {
    what: 'nginx redirects internally to another path, so the daemon sees that path and not the signed one.',
    fix: 'Use a named location (@name), which keeps the path, or =404.',
  },
  'query-set': {
    what: 'Setting $args makes nginx rebuild the target, decoded and with that query, and a proof covers no query.',
    fix: 'Remove the set, or use another variable.',
  },
  'method-set': {
    what: 'The daemon sees another method than was sent.',
    fix: 'Remove proxy_method.',
  },
  'body-replaced': {
    what: 'The daemon gets another body than was signed: even $request_body is empty if the body was buffered in a file.',
    fix: 'Remove proxy_set_body.',
  },
  'body-dropped': {
    what: 'The daemon gets no body, but the proof covers one.',
    fix: 'Remove proxy_pass_request_body off.',
  },
  'body-length-set': {
    what: 'nginx’s length is overwritten, so the daemon reads a shorter body, or a second request inside it.',
    fix: 'Remove this header: nginx sets it.',
  },
  'headers-dropped': {
    what: 'The daemon gets neither the proof’s headers nor the media type.',
    fix: 'Remove proxy_pass_request_headers off.',
  },
  'proof-header-set': {
    what: 'A proof header is set or removed. Even setting it to its own value hides a duplicate, or a name with underscores.',
    fix: 'Remove it: nginx forwards these headers unchanged, duplicates included.',
  },
  'content-type-set': {
    what: 'The media type is not signed, so the daemon must see the original one, and here it gets another.',
    fix: 'Remove it: nginx forwards the header unchanged.',
  },
  'content-encoding-set': {
    what: 'A content coding is not signed and must be refused; here the daemon does not see it, or sees a false one.',
    fix: 'Remove it: nginx forwards the header unchanged.',
  },
  'header-aliases': {
    severity: 'warning',
    what: 'x_ori_invoke_user is now forwarded beside x-ori-invoke-user, and a daemon or a variable may confuse them.',
    fix: 'Remove underscores_in_headers, or turn it off.',
  },
  'invalid-headers-passed': {
    severity: 'warning',
    what: 'Headers with invalid names now reach the daemon beside the proof’s.',
    fix: 'Remove ignore_invalid_headers, or turn it on.',
  },
  'sent-twice': {
    what: 'A copy of the request is sent elsewhere with its proof; the first receiver spends the proof, and the other refuses it (nonce_replayed).',
    fix: 'Remove it, or remove the proof from the copy: proxy_set_header with "" for x-ori-invoke-signature and x-ori-invoke-signature-v2 in that location.',
  },
  'copied-for-authorization': {
    severity: 'warning',
    what: 'The authorization server of auth_request gets the proof before the daemon, and can use it first.',
    fix: 'Do not forward it there: proxy_pass_request_headers off, or proxy_set_header with "" for x-ori-invoke-signature and x-ori-invoke-signature-v2 in that location.',
  },
  retried: {
    what: 'After a failure the same proof is sent to another server: it is refused there (nonce_replayed) although the call may have been executed, or executed twice if the replay stores are separate.',
    fix: 'Remove non_idempotent: the caller signs again.',
  },
  'error-page-passed-on': {
    what: 'After an error the same request is sent again with a spent proof; with a path it also becomes a GET of that path.',
    fix: 'Answer errors in nginx: a location with return, or a file.',
  },
  'answer-cached': {
    what: 'A response to a POST is served from the cache to anyone, without verifying a proof.',
    fix: 'Remove POST from proxy_cache_methods, or set proxy_cache off.',
  },
  'not-http': {
    what: 'The daemon gets headers as variables, which cannot represent a duplicate header or an underscore in a name.',
    fix: 'Forward the call over HTTP: proxy_pass.',
  },
  'code-changes-request': {
    what: 'This code changes the request before it is forwarded.',
    fix: 'Remove that from the code, or the code from the route.',
  },
  'code-not-seen': {
    severity: 'warning',
    what: 'This code runs before the request is forwarded and can change it; it is not part of the configuration.',
    fix: 'Check that it does not set method, path, headers or body, then state it here: # ori-doctor: allow code-not-seen, because …',
  },
} as const satisfies Record<string, Telling>;

export type RuleId = keyof typeof GATEWAY_RULES;

export function severityOf(rule: RuleId): Severity {
  const { severity = 'error' }: Telling = GATEWAY_RULES[rule];
  return severity;
}
