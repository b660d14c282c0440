const NAMED_MAX = 100;

/**
 * Names for the queries that are asked again and again, so that the server parses and plans each once per connection:
 * planning is most of a gate query's time. Only queries with parameters; texts beyond the first 100 stay unnamed, so
 * that queries put together at run time cannot fill the server's memory.
 */
export function createStatementNames(): (text: string, values: readonly unknown[]) => string | undefined {
  const names = new Map<string, string>();
  return (text, values) => {
    if (values.length === 0 || !/^\s*(select|with)\b/i.test(text)) return undefined;
    const known = names.get(text);
    if (known !== undefined || names.size >= NAMED_MAX) return known;
    const name = `ori_${names.size}`;
    names.set(text, name);
    return name;
  };
}
