/** `$NAME` is a value, where it has one. */
export const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replaceAll(/\$([A-Z_]+)/g, (whole, name) => values[name] ?? whole);

/** The names of the values in place of them. */
export function named(text: string, values: Readonly<Record<string, string>>): string {
  let named = text;
  for (const [name, value] of Object.entries(values).filter(([, value]) => value.length > 4))
    named = named.replaceAll(value, `$${name}`);
  return named;
}

/** What a script wants: `...` stands for anything, across lines too, and a `$NAME` without a value for one word, which becomes its value. */
export function like(pattern: string, isWhole = true): RegExp {
  const seen = new Set<string>();
  const source = pattern.replaceAll(/(\.\.\.)|\$([A-Z_]+)|[.*+?^${}()|[\]\\]/g, (special, anything, name) => {
    if (anything !== undefined) return '[^]*?';
    if (name === undefined) return `\\${special}`;
    if (seen.has(name)) return `\\k<${name}>`;
    seen.add(name);
    return `(?<${name}>[\\w.:-]+)`;
  });
  return new RegExp(isWhole ? `^${source}$` : source);
}
