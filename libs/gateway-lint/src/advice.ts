import type { RuleId } from './finding.ts';

interface Telling {
  /** What happens to a proof. */
  readonly what: string;
  readonly fix: string;
}

const KEEP_URI = 'Pass the target on as it came: proxy_pass http://NAME$request_uri;';

/** What each rule says: one sentence on what happens to a proof, one on how to fix it. */
export const GATEWAY_RULES = {
  'path-replaced': {
    what: 'proxy_pass with a path puts that path in place of the location’s and decodes the rest, so the daemon sees another path than was signed.',
    fix: 'Leave the path out, the last slash too: proxy_pass http://NAME;',
  },
  'path-computed': {
    what: 'The path is made of variables, which hold it decoded, merged or cut, so the daemon sees another path than was signed.',
    fix: KEEP_URI,
  },
  'path-unknown': {
    what: 'A variable is where a path could be, and this configuration does not tell what it holds; a path in it would replace the signed one.',
    fix: 'Name the upstream in full, or add $request_uri behind the variable.',
  },
  'path-rewritten': {
    what: 'The path is rewritten before it is passed on, so the daemon sees another path than was signed.',
    fix: `Take the rewrite out, and let callers sign the path that the daemon serves. Or: ${KEEP_URI}`,
  },
  'path-redirected': {
    what: 'nginx goes on to a route under another path, so the daemon sees that one and not the path that was signed.',
    fix: 'Go on to a named location (@name), which keeps the path, or to =404.',
  },
  'query-set': {
    what: 'Once $args is set, nginx builds the target anew: decoded, with that query; and a proof covers no query.',
    fix: 'Take the set out, or use another variable.',
  },
  'method-set': {
    what: 'The daemon sees another method than was signed, or a signed one where there was another.',
    fix: 'Take proxy_method out.',
  },
  'body-replaced': {
    what: 'The daemon gets another body than was signed: even $request_body is empty for a body that was buffered to a file.',
    fix: 'Take proxy_set_body out.',
  },
  'body-dropped': {
    what: 'The daemon gets no body, and the proof is over one.',
    fix: 'Take proxy_pass_request_body off out.',
  },
  'body-length-set': {
    what: 'The length that nginx found is overwritten, so the daemon reads a shorter body, or a second request in it.',
    fix: 'Take this header out: nginx sets it itself.',
  },
  'headers-dropped': {
    what: 'The daemon gets none of the proof’s headers, nor the media type.',
    fix: 'Take proxy_pass_request_headers off out.',
  },
  'proof-header-set': {
    what: 'A header of the proof is set or removed: even a copy of itself hides that it came twice, or under a name with underscores.',
    fix: 'Take it out: nginx passes these headers on by itself, once for each time they came.',
  },
  'content-type-set': {
    what: 'The media type is not signed, so the daemon must judge the one that was sent, and here it gets another.',
    fix: 'Take it out: nginx passes the header on by itself.',
  },
  'content-encoding-set': {
    what: 'A content coding is not signed and must be refused; here the daemon does not get to see it, or sees one that is none.',
    fix: 'Take it out: nginx passes the header on by itself.',
  },
  'header-aliases': {
    what: 'x_ori_invoke_user now passes beside x-ori-invoke-user, and a daemon or a variable that tells them apart badly takes the wrong one.',
    fix: 'Take underscores_in_headers out, or set it off.',
  },
  'invalid-headers-passed': {
    what: 'Headers with names that none should have now reach the daemon, beside the proof’s.',
    fix: 'Take ignore_invalid_headers out, or set it on.',
  },
  'sent-twice': {
    what: 'A copy of the request goes elsewhere with its proof; whoever is first uses the proof up, and the other is refused (nonce_replayed).',
    fix: 'Take it out, or keep the proof from the copy: proxy_set_header with "" for x-ori-invoke-signature and x-ori-invoke-signature-v2 in that location.',
  },
  'copied-for-authorization': {
    what: 'The authorizing server gets the proof before the daemon does, and can use it first.',
    fix: 'Keep it from there: proxy_pass_request_headers off, or proxy_set_header with "" for x-ori-invoke-signature and x-ori-invoke-signature-v2 in that location.',
  },
  retried: {
    what: 'After a failure the same proof goes to another server: refused there (nonce_replayed) though the call may have been carried out, or carried out twice where memories are apart.',
    fix: 'Take non_idempotent out: the caller signs again.',
  },
  'error-page-passed-on': {
    what: 'After an error the same request goes out again, with a proof that was used; by a path it also becomes a GET of that path.',
    fix: 'Answer errors here: a location with return, or a file.',
  },
  'answer-cached': {
    what: 'An answer to a POST is given again from the cache, to whoever asks, and no proof is judged.',
    fix: 'Take POST out of proxy_cache_methods, or set proxy_cache off.',
  },
  'not-http': {
    what: 'The daemon gets headers as variables, in which a header that came twice and one with underscores in its name cannot be told apart.',
    fix: 'Pass the call on by HTTP: proxy_pass.',
  },
  'code-changes-request': {
    what: 'This code changes the request before it is passed on.',
    fix: 'Take that out of the code, or keep the route clear of it.',
  },
  'code-not-seen': {
    what: 'This code runs before the request is passed on and can change it; it does not stand in the configuration.',
    fix: 'Read it for whatever sets method, path, headers or body, then say so here: # ori-doctor: allow code-not-seen, because …',
  },
} as const satisfies Record<RuleId, Telling>;
