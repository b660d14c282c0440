import { type Html, html, pageHeaders, renderPage } from '@ori/faces/html';

/** How a visit to the loopback redirect ended. `unknown` is a visit that does not belong to the sign-in. */
export type CallbackOutcome = 'signed in' | 'denied' | 'failed' | 'unknown';

/** No scripts, no requests, and no leak of the URL with its code to referrers and caches. */
export const PAGE_HEADERS = { ...pageHeaders(), connection: 'close' };

const PAGES: Readonly<Record<CallbackOutcome, readonly [title: string, text: Html]>> = {
  'signed in': ['You are signed in', html`You can close this page and go back to the terminal.`],
  denied: [
    'You are not signed in',
    html`The sign-in was denied. You can close this page and go back to the terminal.`,
  ],
  failed: [
    'You are not signed in',
    html`Something went wrong: the terminal shows what. You can close this page.`,
  ],
  unknown: [
    'Nothing to do here',
    html`This address belongs to a sign-in with <code>ori</code>, and this visit is not part of it.`,
  ],
};

/** The page for an outcome. It contains no part of the request, only the name of whoever signed in. */
export function renderCallback(outcome: CallbackOutcome, name?: string): string {
  const [title, text] = PAGES[outcome];
  const who = name === undefined ? '' : ` as ${name}`;
  return renderPage(title, html`<h1>${title}${who}</h1>\n<p>${text}</p>`, { of: 'sign-in', note: '' });
}
