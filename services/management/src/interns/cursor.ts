import { Refusal } from '../refusal.ts';

/** The position at the end of a page: the sort keys, both descending. */
export interface InternPosition {
  /** ISO 8601 UTC with milliseconds, the precision of the database. */
  readonly createdAt: string;
  readonly id: string;
}

const POSITION = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z) ([A-Za-z0-9][A-Za-z0-9_-]{0,127})$/;

/** Renders a position as the opaque `next_cursor`: base64url of both keys. */
export function renderCursor({ createdAt, id }: InternPosition): string {
  return Buffer.from(`${createdAt} ${id}`, 'latin1').toString('base64url');
}

/** Reads a `starting_after`. Throws {@link Refusal} `invalid_parameters` on anything this service did not render. */
export function readCursor(cursor: string): InternPosition {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, createdAt = '', id = ''] = POSITION.exec(bytes.toString('latin1')) ?? [];
  const spelledAsRendered = bytes.toString('base64url') === cursor;
  if (!spelledAsRendered || !isInstant(createdAt)) {
    throw new Refusal('invalid_parameters', 'starting_after: not a cursor of this list.');
  }
  return { createdAt, id };
}

/** Whether a text is an instant as this service renders it. `Date` takes days that do not exist for later ones. */
function isInstant(text: string): boolean {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text && !text.startsWith('0000');
}
