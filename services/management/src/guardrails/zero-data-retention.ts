const FLAGS = [
  'enforce_zdr_anthropic',
  'enforce_zdr_google',
  'enforce_zdr_openai',
  'enforce_zdr_other',
] as const;

type Flags = { [Flag in (typeof FLAGS)[number]]?: boolean | null | undefined };

/**
 * Resolves the deprecated `enforce_zdr`: if given, its value applies to each per-provider flag that is not. It is not
 * stored itself, so a record shows it as null next to the flags that it set, and null counts as not given.
 */
export function spreadEnforceZdr<Input extends Flags & { enforce_zdr?: boolean | null | undefined }>(
  input: Input,
): Omit<Input, 'enforce_zdr'> & Flags {
  const { enforce_zdr: everywhere, ...rest } = input;
  if (everywhere === undefined || everywhere === null) return rest;
  return { ...Object.fromEntries(FLAGS.map((flag) => [flag, everywhere])), ...rest };
}
