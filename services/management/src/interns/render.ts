import type { InternReader } from '../callers/caller.ts';
import type { InternRow } from './queries.ts';
import type { Intern } from './shape.ts';

/** The columns that are not shown. A column that is neither here nor in the shape is a compile error. */
const HIDDEN = {
  organization_id: undefined,
  created_by_user_id: undefined,
  created_by_key_hash: undefined,
} satisfies Record<Exclude<keyof InternRow, keyof Intern>, undefined>;

export function renderIntern(row: InternRow, reader: InternReader): Intern {
  return {
    ...row,
    ...HIDDEN,
    created_by_you:
      (reader.keyHash !== undefined && reader.keyHash === row.created_by_key_hash) ||
      (reader.userId !== undefined && reader.userId === row.created_by_user_id),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
