import { type Html, html, renderPage } from '@ori/faces/html';

/** A demo member as the sign-in page shows one. `note` says which case the member demonstrates. */
export interface ProviderUser {
  readonly name: string;
  readonly subject: string;
  readonly note?: string;
}

const SCOPE_MEANINGS = {
  openid: 'Know who you are',
  offline_access: 'Stay signed in until you log out',
  'vault:read': "Sign calls to your interns' daemons in your name",
  interns: 'List your interns',
} as const;

export function renderSignInPage(page: {
  action: string;
  client: string;
  users: readonly ProviderUser[];
}): string {
  return renderPage(
    'Sign in',
    html`<h1>Who is signing in?</h1>
<p class="quiet">${page.client} asks you to sign in. These are demo members, without passwords.</p>
<form method="post" action="${page.action}">
<ul class="members">
${page.users.map(
  (user) =>
    html`<li><button name="user" value="${user.name}"><strong>${user.name}</strong><span class="quiet">${user.note}</span></button></li>
`,
)}</ul>
</form>`,
  );
}

export function renderConsentPage(page: {
  action: string;
  client: string;
  user: string;
  scopes: readonly string[];
  onDevice: boolean;
}): string {
  return renderPage(
    'Allow access',
    html`<h1>Let ${page.client} act for ${page.user}?</h1>
<p class="quiet">It asks for these scopes${page.onDevice ? ', on the device that showed you the code' : undefined}:</p>
<ul class="scopes">
${page.scopes.map((scope) => html`<li>${meaningOf(scope)}</li>\n`)}</ul>
<form method="post" action="${page.action}">
<div class="actions">
<button class="primary" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>
</div>
</form>`,
  );
}

function meaningOf(scope: string): Html {
  const meaning = Object.entries(SCOPE_MEANINGS).find(([name]) => name === scope)?.[1];
  if (meaning === undefined) return html`<code>${scope}</code>`;
  return html`${meaning} <span class="quiet"><code>${scope}</code></span>`;
}

export function renderDeviceCodePage(page: {
  action: string;
  xsrf: string;
  code: string;
  problem: string | undefined;
}): string {
  return renderPage(
    'Connect a device',
    html`<h1>Connect a device</h1>
${page.problem === undefined ? undefined : html`<p class="problem" role="alert">${page.problem}</p>\n`}<form method="post" action="${page.action}">
<input type="hidden" name="xsrf" value="${page.xsrf}">
<label for="user_code">The code that your device shows</label>
<input class="code-input" id="user_code" name="user_code" value="${page.code}" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus>
<div class="actions"><button class="primary">Continue</button></div>
</form>`,
  );
}

export function renderDeviceConfirmPage(page: {
  action: string;
  xsrf: string;
  code: string;
  client: string;
}): string {
  return renderPage(
    'Check the code',
    html`<h1>Is this the code on your device?</h1>
<p class="quiet">${page.client} displays it. If you did not start this, or the codes differ, stop here.</p>
<span class="code">${page.code}</span>
<form method="post" action="${page.action}">
<input type="hidden" name="xsrf" value="${page.xsrf}">
<input type="hidden" name="user_code" value="${page.code}">
<input type="hidden" name="confirm" value="yes">
<div class="actions">
<button class="primary">Yes, continue</button>
<button name="abort" value="yes">Stop</button>
</div>
</form>`,
  );
}

export function renderDeviceDonePage(client: string): string {
  return renderPage(
    'Signed in',
    html`<h1>Signed in</h1>
<p>${client} is signed in. You can close this page and go back to it.</p>`,
  );
}

export function renderMissingPage(resource: string): string {
  return renderPage(
    'Nothing here',
    html`<h1>Nothing here</h1>
<p>There is no page at this address. To sign in, use <code>ori login</code>, which opens the right one.</p>
<p><a href="${new URL('/', resource).href}">What runs on this computer</a>, and <a href="${resource}/docs">the API reference</a></p>`,
  );
}

export function renderProblemPage(page: { sentence: string; code?: string }): string {
  return renderPage(
    'That did not work',
    html`<h1>That did not work</h1>
<p class="problem" role="alert">${page.sentence}</p>
<p class="quiet">Go back to the program that opened this page and start again.${
      page.code === undefined ? undefined : html` <code>${page.code}</code>`
    }</p>`,
  );
}
