import { expect, it } from 'vitest';
import { readCursor, renderCursor } from './cursor.ts';

const position = { createdAt: '2026-11-20T12:00:00.123Z', id: 'int_7Qm2' };

it('parses the position that it rendered', () => {
  expect(readCursor(renderCursor(position))).toEqual(position);
});

it.each([
  '',
  'x',
  '!!!!',
  `${renderCursor(position)}=`,
  ` ${renderCursor(position)}`,
  renderCursor({ ...position, id: "' or 1=1" }),
  renderCursor({ ...position, id: 'int_7Qm2 ' }),
  renderCursor({ ...position, createdAt: `1${position.createdAt}` }),
  ...[
    '2026-13-45T99:00:00.000Z',
    '2026-02-30T00:00:00.000Z',
    '2026-02-29T00:00:00.000Z',
    '2026-04-31T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
  ].map((createdAt) => renderCursor({ ...position, createdAt })),
])('refuses the foreign cursor %j', (cursor) => {
  expect(() => readCursor(cursor)).toThrow(expect.objectContaining({ code: 'invalid_parameters' }));
});
