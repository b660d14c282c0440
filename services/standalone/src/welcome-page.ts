import { html, renderPage } from '@ori/faces/html';
import { tryNext } from './try-next.ts';

export interface WelcomeFacts {
  readonly baseUrl: string;
  readonly issuer: string;
  readonly daemonUrl: string;
  readonly users: readonly { readonly name: string; readonly note: string }[];
}

/** The page at the base address: what runs here, and what to try. */
export function renderWelcome(facts: WelcomeFacts): string {
  const { baseUrl, issuer, daemonUrl, users } = facts;
  return renderPage(
    'ori daemon-proof',
    html`<h1>This is ori daemon-proof</h1>
<p>A signer, an API, a sign-in and a sample daemon, all on this computer, with demo data. A person who signs in
can call an intern’s daemon. The daemon then knows who is calling, and accepts exactly this call, once.</p>
<h2>Try it</h2>
<pre><code>${tryNext(facts).join('\n')}</code></pre>
<h2>Where things are</h2>
<ul class="scopes">
<li><a href="${baseUrl}/docs">API reference</a> <span class="quiet"><code>${baseUrl}/docs</code></span></li>
<li>Sign-in <span class="quiet"><code>${issuer}</code></span></li>
<li>Sample daemon <span class="quiet"><code>${daemonUrl}/api/invoke</code></span></li>
</ul>
<h2>Demo members</h2>
<ul class="scopes">
${users.map(({ name, note }) => html`<li>${name} <span class="quiet">${note}</span></li>\n`)}</ul>`,
    { note: 'demo, this computer only' },
  );
}
