/** The answers of a scripted user on the demo provider's pages. */
export interface Answers {
  /** The demo member to be, by name. */
  readonly user: string;
  /** Default `allow`. */
  readonly decision?: 'allow' | 'deny';
}

const STEPS_MAX = 12;

/**
 * Walks through the demo provider's pages like a user with a browser: follows redirects, keeps cookies, and submits
 * each page's form with the requested answer. It works for an authorization request's URL and for the device flow's
 * `verification_uri_complete`.
 *
 * @param cookies what the browser remembers, by name; a later walk with the same ones is the same browser
 * @returns the client's redirect URL with its answer (not fetched: the caller is, or knows, the client), or
 *   `undefined` where the walk ends on a page without a form, as the device flow does.
 * @throws Error when a page is not as expected; its message holds the page's own sentence.
 */
export async function walkThrough(
  start: URL,
  answers: Answers,
  cookies = new Map<string, string>(),
): Promise<URL | undefined> {
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < STEPS_MAX; step++) {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie: renderCookies(cookies) },
      redirect: 'manual',
      ...(form !== undefined && { body: form }),
    });
    for (const line of response.headers.getSetCookie()) keepCookie(cookies, line);
    const page = await response.text();
    const location = response.headers.get('location');
    form = undefined;
    if (location !== null) {
      url = new URL(location, url);
      if (url.origin !== start.origin) return url;
    } else {
      if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}: ${sentenceOf(page)}`);
      const action = /<form [^>]*action="([^"]+)"/.exec(page)?.[1];
      if (action === undefined) return undefined;
      url = new URL(decodeEntities(action), url);
      form = fill(page, answers);
    }
  }
  throw new Error(`the sign-in did not end within ${STEPS_MAX} steps`);
}

function fill(page: string, { user, decision = 'allow' }: Answers): URLSearchParams {
  const form = new URLSearchParams();
  for (const [input] of page.matchAll(/<input [^>]+>/g))
    form.set(attribute(input, 'name'), attribute(input, 'value'));
  if (page.includes('name="user"')) form.set('user', user);
  if (page.includes('name="decision"')) form.set('decision', decision);
  return form;
}

function attribute(tag: string, name: string): string {
  return decodeEntities(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

export function renderCookies(cookies: ReadonlyMap<string, string>): string {
  return [...cookies].map((pair) => pair.join('=')).join('; ');
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (name === undefined || value === undefined) return;
  if (value === '' || line.includes('expires=Thu, 01 Jan 1970')) cookies.delete(name);
  else cookies.set(name, value);
}

function sentenceOf(page: string): string {
  return decodeEntities((/role="alert">([^<]*)</.exec(page)?.[1] ?? page).slice(0, 300));
}

function decodeEntities(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
}
