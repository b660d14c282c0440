/**
 * @throws {TypeError} unless `options` is an object with no other than these names: a misspelled limit must not be silently ignored.
 * `where` names the function in the message.
 */
export function requireNames(options: unknown, names: readonly string[], where: string): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${where}: expected options`);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) {
      throw new TypeError(`${where}: unknown option ${name}; expected ${names.join(', ')}`);
    }
  }
}
