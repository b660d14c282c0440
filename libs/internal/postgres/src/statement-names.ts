import { createHash } from 'node:crypto';

const NAMED_MAX = 100;

/**
 * Names for repeated queries, so that the server parses and plans each only once per connection: planning takes most of the
 * time of a gate query. Only queries with parameters are named, and only the first 100 texts, because queries composed
 * at run time could otherwise fill the memory of the server.
 *
 * A name is made from its text, because a PgBouncer that pools transactions can lend one process the connection on which
 * another named its queries: the same name for another text would run the wrong query.
 */
export function createStatementNames(): (text: string, values: readonly unknown[]) => string | undefined {
  const names = new Map<string, string>();
  return (text, values) => {
    if (values.length === 0 || !/^\s*(select|with)\b/i.test(text)) return undefined;
    const known = names.get(text);
    if (known !== undefined || names.size >= NAMED_MAX) return known;
    const name = `ori_${createHash('sha256').update(text).digest('base64url')}`;
    names.set(text, name);
    return name;
  };
}
