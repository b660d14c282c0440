import { OriError } from '@ori/proof/errors';

export type LogErrorCode =
  /** A write failed and left nothing behind; it may work later. */
  | 'disk'
  /** The state of the disk is unknown until a restart reads it. */
  | 'disk_doubtful'
  | 'journal_damaged'
  /** The tree on disk does not contain the one that was signed: it is an older copy, or another log's. */
  | 'tree_rolled_back'
  /** There is a tree, but no record of how much of it was signed. */
  | 'guard_missing'
  /** The tree has its guard, so there is nothing to adopt. */
  | 'guard_present'
  /** A witness has cosigned a larger tree than this log has. */
  | 'witness_is_ahead'
  /** A witness did not say whether it has seen more of the log. */
  | 'witness_silent'
  /** There is no audit file, or the one that was being read is gone. */
  | 'audit_file_missing'
  /** A line of the audit file is not the one that was read. */
  | 'audit_file_changed';

/** Why the log cannot continue, or why it cannot read a source. */
export class LogError extends OriError<LogErrorCode> {
  override readonly name = 'LogError';
}
