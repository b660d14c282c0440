const STEPS_MAX = 12;

/**
 * Follows redirects and submits the form of each page like a person with a browser, until an address of another origin.
 *
 * @param answers values of inputs by name; other inputs keep theirs
 */
export async function visitForms(start: URL, answers: Readonly<Record<string, string>>): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < STEPS_MAX; step++) {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
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
      const action = attribute(/<form\s[^>]+>/.exec(page)?.[0] ?? '', 'action');
      if (action === '') throw new Error(`${url.pathname} answered ${response.status} without a form`);
      form = new URLSearchParams();
      // Of several buttons, the first agrees.
      let isPressed = false;
      for (const [input] of page.matchAll(/<input\s[^>]+>/g)) {
        const name = attribute(input, 'name');
        const isButton = attribute(input, 'type') === 'submit';
        if (name !== '' && !(isButton && isPressed))
          form.set(name, answers[name] ?? attribute(input, 'value'));
        isPressed ||= isButton;
      }
      url = new URL(action, url);
    } else {
      url = new URL(location, url);
      if (url.origin !== start.origin) return url;
    }
  }
  throw new Error(`the sign-in did not end within ${STEPS_MAX} steps`);
}

function attribute(tag: string, name: string): string {
  const [, value = ''] = new RegExp(`[\\s]${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
}
