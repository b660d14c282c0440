import { randomBytes } from 'node:crypto';

const NOTES = {
  ada: 'member of the workspace of the demo intern',
  grace: 'member of another organization',
  alan: 'member of a workspace outside the interns programme',
  mary: 'removed from the workspace of the demo intern',
} as const;

export type CastName = keyof typeof NOTES;

/**
 * The same ids at each start, so that exported values and what `ori` trusts stay valid; other ones with `isLasting`, for
 * a database that must not get the same cast twice.
 */
export function demoCast(isLasting: boolean) {
  const random = () => randomBytes(8).toString('hex');
  const users = Object.entries(NOTES).map(([name, note]) => {
    /** The `sub` that the demo provider gives them. */
    const subject = `${name}-${isLasting ? random() : 'demo'}`;
    return { name, subject, note };
  });
  return { internId: isLasting ? `int_${random()}` : 'int_greeter', users };
}

/** The part that is known before there is a database. */
export type DemoCast = ReturnType<typeof demoCast>;
