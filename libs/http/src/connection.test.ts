import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { completeHead } from './connection.ts';

const req = new IncomingMessage(new Socket());
const response = () => Object.assign(new ServerResponse(req), { shouldKeepAlive: true });

it.each([true, false])('an answer closes its connection if `last` is true when it begins: %s', (isLast) => {
  let answer = !isLast;
  const res = response();
  completeHead(res, 'id', () => answer);
  answer = isLast;
  expect(res.writeHead(200)).toBe(res);
  expect(res.shouldKeepAlive).toBe(!isLast);
});

it('a finished answer is not retained', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const watched = () => {
    const res = response();
    completeHead(res, 'id', () => false);
    res.writeHead(200);
    return new WeakRef(res);
  };
  const over = watched();
  await turn();
  collect();
  expect(over.deref()).toBeUndefined();
});
