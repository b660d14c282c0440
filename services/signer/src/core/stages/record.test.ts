import { expect, test } from 'vitest';
import { Written } from './evidence.ts';
import { record, renderAuditLine } from './record.ts';
import { BODY_SHA256, draftOf, entryOf, keyOf, NOW, orderOf, reservedOf, turnOf } from './stages.fixture.ts';

test('the line of a v1 proof names neither route nor nonce', () => {
  const reserved = reservedOf(turnOf(draftOf(keyOf(entryOf(orderOf({ bodySha256: BODY_SHA256 }))))));
  const line = JSON.parse(renderAuditLine(reserved, 'request-1', NOW * 1000));
  expect(line).toMatchObject({ versions: [1], bodySha256: BODY_SHA256, requestId: 'request-1' });
  for (const absent of ['method', 'path', 'nonce']) expect(line).not.toHaveProperty(absent);
});

test('a line is one line', () => {
  expect(renderAuditLine(reservedOf(), 'request-1', NOW * 1000)).not.toMatch(/[\r\n]/);
});

test('a proof is recorded only by its own line', () => {
  const reserved = reservedOf();
  const line = renderAuditLine(reserved, 'request-1', NOW * 1000);
  expect(record(reserved, line, new Written(line)).proof).toBe(reserved);
  expect(() =>
    record(reserved, line, new Written(renderAuditLine(reserved, 'request-2', NOW * 1000))),
  ).toThrow(TypeError);
});
