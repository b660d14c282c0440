import { around, own, type Scope, within } from './scopes.ts';

/** The possible values of a variable, as far as the configuration shows them. */
export type Variables = ReadonlyMap<string, readonly string[]>;

/** The maximum number of texts of one value; the rest counts as unknown. */
const TEXTS_MAX = 4096;
const DEPTH_MAX = 4;
const VARIABLE = /\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))/;

/** Variables that never contain a slash: their value is a host, an address or a number. */
const HOSTLIKE = new Set(
  'host http_host proxy_host proxy_port hostname server_name server_addr server_port remote_addr remote_port scheme'.split(
    ' ',
  ),
);

/** The values that `set`, `map` and `split_clients` assign to variables, and the captures of server names. */
export function variablesOf(server: Scope): Variables {
  const values = new Map<string, string[]>();
  const add = (variable: string | undefined, value: string | undefined): void => {
    if (variable === undefined || value === undefined) return;
    const name = variable.replace(/^\$/, '');
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  };
  for (const scope of within(server)) {
    for (const { args } of own(scope, 'set')) add(args[0], args[1]);
  }
  for (const scope of around(server)) {
    for (const name of ['map', 'split_clients']) {
      for (const { args, block = [] } of own(scope, name))
        for (const entry of block) add(args[1], entry.args[0]);
    }
  }
  for (const { args } of own(server, 'server_name')) {
    for (const [, capture] of args.join(' ').matchAll(/\(\?P?<(\w+)>/g)) add(capture, 'captured.invalid');
  }
  return values;
}

/** The possible texts of a value; unknown variables remain in them. */
export function expand(value: string, variables: Variables): string[] {
  let texts = [value];
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    texts = [...new Set(texts.flatMap((text) => substitute(text, variables)))];
    if (texts.length > TEXTS_MAX) return [...texts.slice(0, TEXTS_MAX), '$unknown'];
  }
  return texts;
}

function substitute(text: string, variables: Variables): string[] {
  for (const match of text.matchAll(new RegExp(VARIABLE, 'g'))) {
    const values = variables.get(match[1] ?? match[2] ?? '');
    if (values === undefined) continue;
    const before = text.slice(0, match.index);
    const after = text.slice(match.index + match[0].length);
    return values.slice(0, TEXTS_MAX + 1).map((value) => before + value + after);
  }
  return [text];
}

export function hasVariable(text: string): boolean {
  return VARIABLE.test(text);
}

/** The text with `host` in place of every variable that cannot contain a slash. */
export function withHosts(text: string): string {
  return text.replace(new RegExp(VARIABLE, 'g'), (variable, braced?: string, bare?: string) =>
    HOSTLIKE.has(braced ?? bare ?? '') ? 'host' : variable,
  );
}
