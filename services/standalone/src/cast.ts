/** The demo members, by name, and what each of them shows. */
const NOTES = {
  ada: 'member of the workspace of the demo intern',
  grace: 'member of another organization',
  alan: 'member of a workspace outside the interns programme',
  mary: 'removed from the workspace of the demo intern',
} as const;

export type CastName = keyof typeof NOTES;

/** The `sub` of each is what the demo provider gives them. All ids are the same at each start. */
export const DEMO_USERS = Object.entries(NOTES).map(([name, note]) => ({
  name,
  subject: `${name}-demo`,
  note,
}));

export const DEMO_INTERN_ID = 'int_greeter';
