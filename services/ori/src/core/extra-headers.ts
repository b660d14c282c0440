import { CliError } from './errors.ts';

/** Headers that the call itself sets, or that the proof covers. */
const OWN =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|x-ori-.*)$/;

/**
 * The headers of `-H 'Name: value'`, by name in lower case. No proof covers them. Throws CliError `usage` for a
 * malformed header, and for one that the call itself sets.
 */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map(parseHeader));
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
