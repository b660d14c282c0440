import { expect, it } from 'vitest';
import type { WorkspaceRow } from './queries.ts';
import { renderWorkspace } from './render.ts';

const at = new Date('2026-11-20T12:00:00.123Z');

it('has a UUID of version 8 for its default guardrail, which depends on its id alone', () => {
  const ids = Array.from({ length: 64 }, (_, index) => {
    const row = { id: `wks_${index}`, created_at: at, updated_at: null } as WorkspaceRow;
    const { default_guardrail_id: id } = renderWorkspace(row);
    expect(renderWorkspace({ ...row, name: 'renamed' }).default_guardrail_id).toBe(id);
    return id;
  });
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
