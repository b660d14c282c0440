type Environment = Readonly<Record<string, string | undefined>>;

/** The settings for Node's proxy support; undefined without `HTTPS_PROXY`. */
export interface ProxySettings {
  readonly https_proxy: string;
  readonly no_proxy?: string;
}

/**
 * Reads `HTTPS_PROXY` and `NO_PROXY` as curl does: a proxy without a scheme is an http one, and a name in `NO_PROXY`
 * means its subdomains too. Node's `https` takes a name without a dot before it literally, its `fetch` does not.
 *
 * @throws RangeError if `HTTPS_PROXY` is not an address; without the value, which may contain a password
 */
export function readProxyEnvironment(environment: Environment): ProxySettings | undefined {
  const proxy = environment['https_proxy'] || environment['HTTPS_PROXY'];
  if (!proxy) return undefined;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RangeError('HTTPS_PROXY: expected an address such as http://proxy.example:3128');
  }
  const except = environment['no_proxy'] || environment['NO_PROXY'];
  // As Node wants it: it takes `HTTP://proxy` for no proxy, and connects without one.
  return { https_proxy: url.href, ...(except && { no_proxy: withSubdomains(except) }) };
}

function withSubdomains(noProxy: string): string {
  const names = noProxy.split(/[\s,]+/).filter((name) => name !== '');
  return names.flatMap((name) => (isName(name) ? [name, `.${name}`] : [name])).join(',');
}

/** Not an IP address, a range of them, or a pattern. */
const isName = (entry: string): boolean => /^(?!\.)[^*:[\]/-]*[^*:[\]/.\d-][^*:[\]/]*(?::\d+)?$/.test(entry);
