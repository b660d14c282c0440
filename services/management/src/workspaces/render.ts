import { createHash } from 'node:crypto';
import type { MemberRow } from './member-queries.ts';
import type { WorkspaceRow } from './queries.ts';
import { UNUSED, type Workspace, type WorkspaceMember } from './shape.ts';

export function renderWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    created_by: row.created_by,
    default_guardrail_id: uuidOf(row.id),
    ...UNUSED,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at?.toISOString() ?? null,
  };
}

export function renderMember(row: MemberRow): WorkspaceMember {
  return {
    ...row,
    role: 'member',
    created_at: row.created_at.toISOString(),
  };
}

/** A UUID that depends on the text alone (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(`guardrail of ${text}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
