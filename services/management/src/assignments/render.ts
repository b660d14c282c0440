/** An assignment as it is shown, to a key or to a member alike. */
export function renderAssignment(row: { readonly created_at: Date }) {
  return { ...row, created_at: row.created_at.toISOString() };
}
