import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Admission } from '../overload/admission.ts';
import { Deadline } from './deadline.ts';
import { beginExchange, exchangeOf, findExchange } from './exchange.ts';

it('belongs to one request, and a request without one throws', () => {
  const req = new IncomingMessage(new Socket());
  expect(findExchange(req)).toBeUndefined();
  expect(() => exchangeOf(req)).toThrow(TypeError);
  const deadline = new Deadline(1000);
  deadline.clear();
  const exchange = {
    requestId: 'r',
    client: { address: '127.0.0.1', authority: undefined },
    receivedAt: 0,
    deadline,
    network: '127.0.0.1',
    admission: new Admission(),
    account: undefined,
    route: undefined,
    error: undefined,
    facts: {},
  };
  beginExchange(req, exchange);
  expect(exchangeOf(req)).toBe(exchange);
  expect(findExchange(new IncomingMessage(new Socket()))).toBeUndefined();
});
