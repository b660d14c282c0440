/** A line that `nginx -T` writes before each file. */
const HEAD = /^# configuration file (.+):$/gm;

/**
 * The files in the output of `nginx -T`, by name, the main one first. A text without its header lines is one file with
 * the given name.
 */
export function filesInDump(text: string, name: string): Map<string, string> {
  const heads = [...text.matchAll(HEAD)];
  if (heads.length === 0) return new Map([[name, text]]);
  return new Map(
    heads.map((head, index) => [head[1] ?? name, text.slice(head.index, heads[index + 1]?.index)]),
  );
}
