import { createHash } from 'node:crypto';

/** How a visit to the loopback redirect ended. `unknown` is one that no sign-in of ours caused. */
export type CallbackOutcome = 'signed in' | 'denied' | 'failed' | 'unknown';

const STYLE = `:root{color-scheme:light dark}
body{font:1.125rem/1.5 system-ui,sans-serif;max-width:32rem;margin:18vh auto 0;padding:0 1.5rem}
h1{font-size:1.6rem;margin:0 0 .5rem}
p{margin:0 0 .75rem}
code{font:0.95em ui-monospace,monospace;padding:.1em .35em;border:1px solid;border-radius:.3em}`;

/** No script, no request to anywhere, and the address with its code kept out of referrers and caches. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

/** The page that the browser shows, per outcome. Constant: nothing of the request is repeated in it. */
export const CALLBACK_PAGES: Readonly<Record<CallbackOutcome, string>> = {
  'signed in': page('You are signed in', 'Go back to the terminal. You can close this page.'),
  denied: page(
    'You are not signed in',
    'The sign-in was denied, so <code>ori</code> got nothing. Go back to the terminal. You can close this page.',
  ),
  failed: page(
    'You are not signed in',
    'Something went wrong; the terminal says what. You can close this page.',
  ),
  unknown: page(
    'Nothing to do here',
    'This address belongs to a sign-in of <code>ori</code>, and this visit is not part of it.',
  ),
};

function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1><p>${text}</p></main></body>
</html>
`;
}
