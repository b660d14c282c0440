import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createScanner } from './scanner.ts';

const CANARIES = { bytes: randomBytes(32), text: randomBytes(18).toString('base64url') };

test.each(['latin1', 'hex', 'base64'] as const)(
  'finds each secret in a log that contains it in %s',
  (encoding) => {
    const { scan } = createScanner(CANARIES);
    const lines = Array.from({ length: 100 }, () =>
      JSON.stringify({ msg: randomBytes(40).toString(encoding) }),
    );
    expect(scan('log', lines.join('\n'))).toEqual([]);
    const planted = Object.values(CANARIES).map((secret) => Buffer.from(secret).toString(encoding));
    const log = [...lines, ...planted.map((leak) => JSON.stringify({ msg: leak })), ...lines].join('\n');
    expect(new Set(scan('log', log).map(({ canary }) => canary))).toEqual(new Set(Object.keys(CANARIES)));
  },
);

test('finds a third of a secret', () => {
  const { scan } = createScanner(CANARIES);
  const { length } = CANARIES.bytes;
  for (const part of [CANARIES.bytes.subarray(0, 12), CANARIES.bytes.subarray(length - 12)])
    expect(scan('log', `key ${part.toString('hex').toUpperCase()}.`)).toMatchObject([{ canary: 'bytes' }]);
});
