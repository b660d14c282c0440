import { type Html, html, pageHeaders, renderPage } from '@ori/faces/html';

/** How a visit to the loopback redirect ended. `unknown` is a visit that does not belong to the sign-in. */
export type CallbackOutcome = 'signed in' | 'denied' | 'failed' | 'unknown';

/** No scripts, no requests, and no leak of the URL with its code to referrers and caches. */
export const PAGE_HEADERS = { ...pageHeaders(), connection: 'close' };

/** The page for each outcome. Constant: it contains no part of the request. */
export const CALLBACK_PAGES: Readonly<Record<CallbackOutcome, string>> = {
  'signed in': page('You are signed in', html`You can close this page and go back to the terminal.`),
  denied: page(
    'You are not signed in',
    html`The sign-in was denied. You can close this page and go back to the terminal.`,
  ),
  failed: page(
    'You are not signed in',
    html`Something went wrong: the terminal shows what. You can close this page.`,
  ),
  unknown: page(
    'Nothing to do here',
    html`This address belongs to a sign-in with <code>ori</code>, and this visit is not part of it.`,
  ),
};

function page(title: string, text: Html): string {
  return renderPage(title, html`<h1>${title}</h1>\n<p>${text}</p>`, { of: 'sign-in', note: '' });
}
