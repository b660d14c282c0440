export type LogErrorCode =
  /** A write failed and left nothing behind; it may work later. */
  | 'disk'
  /** What the disk has is not known: only a new start finds out. */
  | 'disk_doubtful'
  | 'journal_damaged'
  /** What was signed is not in the tree on disk: an older copy, or another log's. */
  | 'tree_rolled_back'
  /** There is a tree, and nothing that says how far it was signed. */
  | 'guard_missing'
  /** There is a guard: nothing is to be adopted. */
  | 'guard_present'
  /** A witness has cosigned a larger tree than this log has. */
  | 'witness_is_ahead'
  /** A witness did not say whether it has seen more of the log. */
  | 'witness_silent'
  /** The audit file that was being read is not there any more. */
  | 'audit_file_missing'
  /** A line of the audit file is not the one that was read. */
  | 'audit_file_changed';

/** Why the log cannot go on, or one of its sources cannot be read. */
export class LogError extends Error {
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogError';
    this.code = code;
  }
}
