const FLAGS = [
  'enforce_zdr_anthropic',
  'enforce_zdr_google',
  'enforce_zdr_openai',
  'enforce_zdr_other',
] as const;

type Flags = { [Flag in (typeof FLAGS)[number]]?: boolean | null | undefined };

/**
 * Resolves the deprecated `enforce_zdr`: where it is given, its value stands for each per-provider flag that
 * is not. It is never stored itself, so a record shows it as null beside the flags it set.
 */
export function spreadEnforceZdr<Input extends Flags & { enforce_zdr?: boolean | null | undefined }>(
  input: Input,
): Omit<Input, 'enforce_zdr'> & Flags {
  const { enforce_zdr: everywhere, ...rest } = input;
  if (everywhere === undefined) return rest;
  return { ...Object.fromEntries(FLAGS.map((flag) => [flag, everywhere])), ...rest };
}
