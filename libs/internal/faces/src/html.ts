import { createHash } from 'node:crypto';
import { STYLE } from './style.ts';

/** Markup that is safe to send: only {@link html} makes it, and `html` escapes every value that is not markup. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Value = Html | string | number | readonly Html[] | undefined;

/** Template tag: the literal parts are markup, every interpolated string is escaped, `undefined` is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

function render(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

/** A whole page with a title and a body. `of` and `note` in its header say whose page it is; `script` is the path of one. */
export function renderPage(
  title: string,
  body: Html,
  {
    of = 'standalone',
    note = 'demo sign-in, this computer only',
    script,
  }: { of?: string; note?: string; script?: string } = {},
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ori ${of}</title>
<style>${new Html(STYLE)}</style>${script === undefined ? undefined : html`\n<script type="module" src="${script}"></script>`}
</head>
<body>
<header><span class="mark" aria-hidden="true">ori</span> ${of} <span class="quiet">${note}</span></header>
<main>
${body}
</main>
</body>
</html>
`.markup;
}

const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * The headers of every page: no frames, external resources or caching, and no scripts unless it has files of its own
 * origin. Browsers also apply `form-action` to redirects after a form, so a page whose form leads to the client's
 * loopback redirect lists that origin.
 */
export function pageHeaders({
  formTarget,
  scripts = false,
}: {
  readonly formTarget?: string | undefined;
  readonly scripts?: boolean;
} = {}): Record<string, string> {
  const formAction = formTarget === undefined ? "'self'" : `'self' ${new URL(formTarget).origin}`;
  const ofScripts = scripts ? " script-src 'self'; connect-src 'self';" : '';
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none';${ofScripts} style-src ${STYLE_HASH}; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}
