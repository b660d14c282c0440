import { OriError } from '@ori/proof/errors';
import type { z } from 'zod';

/**
 * - `invalid_input`: a value is not acceptable; `problems` names each place.
 * - `not_found`: a row that the operation names does not exist.
 * - `conflict`: existing data forbids it.
 */
export type AdminErrorCode = 'invalid_input' | 'not_found' | 'conflict';

/** A request that was refused; nothing was written. */
export class AdminError extends OriError<AdminErrorCode> {
  override readonly name = 'AdminError';
  /** Its message may quote input, so logs omit it. */
  readonly isForCaller = true;
  readonly problems: readonly string[];

  constructor(
    code: AdminErrorCode,
    message: string,
    options: { cause?: unknown; problems?: readonly string[] } = {},
  ) {
    super(code, message, options);
    this.problems = options.problems ?? [];
  }
}

/** What the work resolves to, or the AdminError that it is refused with. Throws any other error. */
export function unlessAdminError<T>(work: Promise<T>): Promise<T | AdminError> {
  return work.catch((error: unknown) => {
    if (error instanceof AdminError) return error;
    throw error;
  });
}

/** @throws AdminError `invalid_input` with every problem */
export function requireInput<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
  throw new AdminError('invalid_input', problems.join('; '), { problems });
}

const MEANINGS: Readonly<Record<string, { code: AdminErrorCode; message: string }>> = {
  '23505': { code: 'conflict', message: 'it already exists' },
  '23503': { code: 'not_found', message: 'a row that it refers to does not exist' },
  '23514': { code: 'invalid_input', message: 'a value is not acceptable' },
};

/** What an operator did, and the management API may not undo. */
const MARKS: Readonly<Record<string, string>> = {
  api_keys_operator: 'an operator disabled it: only an operator enables it again',
  byok_credentials_operator: 'an operator disabled it: only an operator enables it again',
  members_operator: 'an operator removed them: only an operator adds them again',
};

/** What a violated constraint means, where the database's report tells more than its kind. */
function reasonOf(error: Error): string | undefined {
  const { constraint, detail } = error as { constraint?: unknown; detail?: unknown };
  if (constraint === 'workspaces_default') return 'its organization has a default workspace already';
  if (constraint === 'workspaces_slug') return 'its organization has a workspace with this slug already';
  if (constraint === 'users_email') return 'another user has this e-mail address';
  if (constraint === 'interns_hostname') return 'its host name is not <intern name>.<domain>';
  if (constraint === 'guardrails_size') return 'its lists and filters have more than 65536 bytes as JSON';
  const marked = MARKS[String(constraint)];
  if (marked !== undefined) return marked;
  const absent = /^Key \(([\w, ]+)\)=\((.*)\) is not present in table/.exec(String(detail));
  return absent === null ? undefined : `no ${absent[1]} ${absent[2]}`;
}

/** Runs a write, and turns a violated constraint into the corresponding `AdminError`. */
export async function translateConstraints<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || error instanceof AdminError) throw error;
    const meaning = MEANINGS[String(error.code)];
    if (meaning === undefined) throw error;
    throw new AdminError(meaning.code, `${what}: ${reasonOf(error) ?? meaning.message}`, { cause: error });
  }
}
