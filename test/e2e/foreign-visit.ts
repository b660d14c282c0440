const STEPS_MAX = 12;

/** What a person's browser keeps between two visits, and how often one gave a password. */
export interface Browser {
  readonly cookies: Map<string, string>;
  filled: number;
}

/**
 * Follows redirects and submits the form of each page like a person with a browser, until an address of another origin.
 *
 * @param answers values of inputs by name; other inputs keep theirs
 * @param origins of the provider's pages
 */
export async function visitForms(
  start: URL,
  answers: Readonly<Record<string, string>>,
  origins: readonly string[] = [start.origin],
  browser: Browser = { cookies: new Map(), filled: 0 },
): Promise<URL> {
  const { cookies } = browser;
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < STEPS_MAX; step++) {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { accept: 'text/html', cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      redirect: 'manual',
      ...(form !== undefined && { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    form = undefined;
    if (location === null) {
      const markup = pageForm(page);
      const action = attribute(/<form\s[^>]*>|<form>/.exec(markup)?.[0] ?? '', 'action');
      if (markup === '') throw new Error(`${url.pathname} answered ${response.status} without a form`);
      form = fill(markup, answers);
      if (markup.includes('type="password"')) browser.filled += 1;
      url = action === '' ? url : new URL(action, url);
    } else {
      url = new URL(location, url);
      if (!origins.includes(url.origin)) return url;
    }
  }
  throw new Error(`the sign-in did not end within ${STEPS_MAX} steps`);
}

/** The first form that is not for choosing a language. */
function pageForm(page: string): string {
  const forms = [...page.matchAll(/<form[\s>].*?<\/form>/gs)].map(([markup]) => markup);
  return forms.find((markup) => /type="(?:password|hidden|submit)"|<button/.test(markup)) ?? '';
}

function fill(markup: string, answers: Readonly<Record<string, string>>): URLSearchParams {
  const form = new URLSearchParams();
  // Of several buttons, the first agrees, or one of the answers.
  let isPressed = false;
  for (const [field] of markup.matchAll(/<(?:input|button)\s[^>]*>/g)) {
    const name = attribute(field, 'name');
    const isButton = field.startsWith('<button') || attribute(field, 'type') === 'submit';
    const value = answers[name] ?? attribute(field, 'value');
    if (name !== '' && (Object.hasOwn(answers, name) || !(isButton && isPressed))) {
      if (attribute(field, 'type') === 'checkbox') form.append(name, value || 'on');
      else form.set(name, value);
    }
    isPressed ||= isButton;
  }
  return form;
}

function attribute(tag: string, name: string): string {
  const [, value = ''] = new RegExp(`[\\s]${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
}
