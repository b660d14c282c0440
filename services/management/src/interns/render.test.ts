import { expect, it } from 'vitest';
import type { InternReader } from '../callers/caller.ts';
import { renderIntern } from './operations.ts';
import type { InternRow } from './queries.ts';

const at = new Date('2026-11-20T12:00:00.123Z');

it.each([
  [{ keyHash: 'k1' }, { created_by_key_hash: 'k1' }, true],
  [{ keyHash: 'k1' }, { created_by_key_hash: 'k2' }, false],
  [{ keyHash: 'k1' }, {}, false],
  [{ keyHash: 'k1' }, { created_by_user_id: 'ada' }, false],
  [{ userId: 'ada' }, { created_by_user_id: 'ada' }, true],
  [{ userId: 'ada' }, { created_by_user_id: 'bob' }, false],
  [{ userId: 'ada' }, {}, false],
])('whether %j created the intern of %j: %s', (reader, creator, expected) => {
  const row = {
    created_at: at,
    updated_at: at,
    created_by_key_hash: null,
    created_by_user_id: null,
    ...creator,
  };
  const shown = renderIntern(row as unknown as InternRow, reader as unknown as InternReader);
  expect(shown).toMatchObject({ created_by_you: expected, created_at: '2026-11-20T12:00:00.123Z' });
});
