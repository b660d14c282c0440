import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { closeAfter } from './connection.ts';

const req = new IncomingMessage(new Socket());
const response = () => Object.assign(new ServerResponse(req), { shouldKeepAlive: true });

it.each([true, false])('an answer closes its connection if that is so when it begins: %s', (isLast) => {
  let answer = !isLast;
  const res = response();
  closeAfter(res, () => answer);
  answer = isLast;
  expect(res.writeHead(200)).toBe(res);
  expect(res.shouldKeepAlive).toBe(!isLast);
});

it('an answer that is over does not outlive a young collection', () => {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'minor' | 'major' }) => void = runInNewContext('gc');
  const oldBytes = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
  const RESPONSES = 2000;
  collect({ type: 'major' });
  const before = oldBytes();
  for (let count = 0; count < RESPONSES; count++) {
    closeAfter(response(), () => false);
    if (count % 100 === 99) collect({ type: 'minor' });
  }
  expect((oldBytes() - before) / RESPONSES).toBeLessThan(500);
});
