import { html, renderPage } from '@ori/faces/html';
import { tryNext } from '../try-next.ts';
import type { Stage } from './play.ts';

export interface StartFacts extends Stage {
  readonly users: readonly { readonly name: string; readonly subject: string; readonly note: string }[];
}

const BODY = '{"prompt":"hello"}';

/** What can be done to a call that was made, and to the answer of a daemon that proves it; `page.js` does it. */
const ATTACKS = {
  repeat: 'Repeat it',
  byte: 'Change one byte of the body',
  path: 'Change the path',
  late: 'Wait until the proof is 70 s old',
  user: 'Use it in grace’s name',
  intern: 'Take it to another intern',
  answer: 'Change an answer of analytical',
} as const;

/** What happens to a call, before the first one; `page.js` then shows what happened. */
const WAY = ({ baseUrl, issuer, daemons }: StartFacts) => [
  ['Session', `The person signs in at ${issuer}, with a key that only this session has.`],
  [
    'Signer',
    `POST ${baseUrl}/interns/…/daemon/sign: the path, and the SHA-256 of the body. It never sees the body.`,
  ],
  ['Five headers', 'The proof: one signature over person, intern, path, body and time, for one use.'],
  ['Daemon', `POST ${daemons.greeter.url}/api/invoke, with the five headers and the body.`],
  ['Verdict', '200 and the name of the person, or why not. The daemon needs only public keys to know.'],
];

/** The page at the base address: makes a call, and lets one try to abuse it. */
export function renderStartPage(facts: StartFacts): string {
  const { baseUrl, issuer, daemons, users } = facts;
  const daemonUrl = daemons.greeter.url;
  return renderPage(
    'ori daemon-proof',
    html`<h1>Make a call, then try to abuse it</h1>
<p>A signer, a sign-in and two daemons run on this computer. A person’s call to the daemon of the intern
<em>greeter</em> carries a proof: the daemon knows who is calling, and accepts exactly these bytes on this path, once.</p>
<noscript><p class="problem">This page needs its script. The commands below do not.</p></noscript>
<form id="call" data-issuer="${issuer}" data-api="${baseUrl}" data-intern="${daemons.greeter.internId}" data-daemon="${daemonUrl}">
<p><label for="user">Who calls</label>
<select id="user" name="user">${users.map(
      ({ name, subject, note }) => html`
<option value="${name}" data-subject="${subject}">${name}, ${note}</option>`,
    )}
</select></p>
<p><label for="path">Path</label>
<input id="path" name="path" value="/api/invoke" required autocomplete="off" spellcheck="false"></p>
<p><label for="body">Body</label>
<textarea id="body" name="body" rows="2" maxlength="8192" autocomplete="off" spellcheck="false">${BODY}</textarea></p>
<div class="actions"><button class="primary">Call greeter</button></div>
</form>
<p id="status" role="status"></p>
<section id="way">
<h2 tabindex="-1">The way of the call</h2>
<ol class="way">
${WAY(facts).map(
  ([title, text]) => html`<li><h3>${title}</h3>${text}</li>
`,
)}</ol>
<div id="bytes" hidden>
<h2>The bytes that are signed</h2>
<p class="quiet">One field per line to read them; without the line breaks, they are what Ed25519 signs.</p>
<pre><code id="signed"></code></pre>
</div>
</section>
<section id="abuse" hidden>
<h2>Now abuse the proof</h2>
<div class="choices">
${Object.entries(ATTACKS).map(([name, label]) => html`<button type="button" value="${name}">${label}</button>\n`)}</div>
<ol class="way" id="answers" aria-live="polite"></ol>
</section>
<h2>Try the API</h2>
<p>Every request of the <a href="${baseUrl}/docs">API reference</a> that has a link <em>Try it</em>, with a session of the
person above. The others take a management key, and refuse a person with 401.</p>
<form id="try">
<p><label for="request">Request</label>
<input id="request" name="request" value="GET /interns" required autocomplete="off" spellcheck="false"></p>
<p><label for="content">Body, as JSON</label>
<textarea id="content" name="body" rows="2" maxlength="8192" autocomplete="off" spellcheck="false"></textarea></p>
<div class="actions"><button class="primary">Send</button></div>
</form>
<p id="trying" role="status"></p>
<ol class="way" id="tried" aria-live="polite"></ol>
<h2>The same in a terminal</h2>
<pre><code>${tryNext({ baseUrl, daemonUrl }).join('\n')}</code></pre>`,
    { note: 'demo, this computer only', script: '/start.js' },
  );
}
