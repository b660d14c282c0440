/** The members of a JSON object, unchecked. */
export type Members = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
