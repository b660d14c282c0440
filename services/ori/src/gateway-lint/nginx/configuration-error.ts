/** The failures of reading a configuration, with the facts for their messages. */
export interface ConfigurationErrorFacts {
  configuration_unreadable: { file: string; why: string; from?: { file: string; line: number } };
  configuration_malformed: { file: string; line: number; why: string };
}

type Code = keyof ConfigurationErrorFacts;

/** A configuration that cannot be read. The facts may contain text of the file: escape it before printing. */
export class ConfigurationError<C extends Code = Code> extends Error {
  override readonly name = 'ConfigurationError';
  readonly code: C;
  readonly facts: ConfigurationErrorFacts[C];

  constructor(code: C, facts: ConfigurationErrorFacts[C], options?: ErrorOptions) {
    super(code, options);
    this.code = code;
    this.facts = facts;
  }
}

/** True for an error with this code; narrows the type of its facts. */
export function isConfigurationError<C extends Code>(
  error: unknown,
  code: C,
): error is ConfigurationError<C> {
  return error instanceof ConfigurationError && error.code === code;
}
