import { CliError } from './errors.ts';

/** Headers that the call itself sets, or that the proof covers. */
const OWN =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|x-ori-.*)$/;

/**
 * The headers of `-H 'Name: value'`, by name in lower case. No proof covers them. Throws CliError `usage` for a
 * malformed header, for one that the call itself sets, and for a second one of a name.
 */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers = Object.fromEntries(lines.map(parseHeader));
  if (Object.keys(headers).length < lines.length)
    throw new CliError('usage', { detail: '-H has a header twice: join its values with commas.' });
  return headers;
}

function parseHeader(line: string): [string, string] {
  const [, name, value = ''] =
    /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
  if (name === undefined) {
    throw new CliError('usage', { detail: "-H requires 'Name: value'." });
  }
  const lower = name.toLowerCase();
  if (OWN.test(lower)) throw new CliError('usage', { detail: `${name} cannot be set with -H.` });
  return [lower, value];
}

/** Cookies of a loopback address are shared by all of its ports, and a page's address is nobody else's business. */
const LOCAL = /^(?:cookie|origin|referer|sec-.*|access-control-.*)$/;

/** The headers of a proxied request that are passed on. No proof covers them. */
export function passedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const named = new Set(
    String(headers['connection'] ?? '')
      .toLowerCase()
      .split(/[\t ,]+/),
  );
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      const isKept = value !== undefined && !OWN.test(name) && !LOCAL.test(name) && !named.has(name);
      return isKept && name !== 'content-type' ? [[name, String(value)]] : [];
    }),
  );
}

/**
 * Headers of an answer that belong to one connection, that the proxy itself sets, or that change more of a browser than the page
 * which asked: what it keeps for the address that all programs of this computer share, and where it goes next.
 */
const ANSWER_OWN = new RegExp(
  `^(?:${[
    'connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|x-ori-.*|access-control-.*',
    'set-cookie2?|clear-site-data|strict-transport-security|public-key-pins.*|expect-ct|alt-svc|accept-ch|critical-ch',
    'service-worker-.*|nel|report-to|reporting-endpoints|refresh|link|origin-agent-cluster|.*speculation.*',
  ].join('|')})$`,
);

/** The headers of the daemon's answer that are passed back. */
export function answeredHeaders<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ANSWER_OWN.test(name)));
}
