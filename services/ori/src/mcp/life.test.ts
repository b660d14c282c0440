import { expect, it, vi } from 'vitest';
import { type JsonRpcText, readJsonRpc } from './json-rpc.ts';
import { createLife } from './life.ts';

const read = (text: string) => readJsonRpc(text) as JsonRpcText;
const call = (id: unknown) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call"}`;
const result = (id: unknown) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`;
const ERROR = '"error":{"code":-32603,"message":"boom","data":12345678901234567890}}';

function liveWith(text: string) {
  const life = createLife(Buffer.from(text), read(text));
  const leftOut = vi.fn();
  return { life, leftOut, answered: (said: string) => life.answered(read(said), said, leftOut) };
}

// modelcontextprotocol/typescript-sdk#389 and others: servers that could not read a request do not know its id.
it.each([
  ['null', `{"jsonrpc":"2.0","id":null,${ERROR}`],
  ['none', `{"jsonrpc":"2.0",${ERROR}`],
  ['of its own', `{"jsonrpc":"2.0","id":"server-error",${ERROR}`],
])('gives the request that waits an error whose id is %s, as it was written', (_id, said) => {
  const { life, answered } = liveWith(call(2));
  expect(answered(said)).toEqual([`{"jsonrpc":"2.0","id":2,${ERROR}`]);
  expect(life.isWaiting()).toBe(false);
});

it('gives such an error to all of a batch that still wait, and to no other', () => {
  const { answered } = liveWith(`[${call(1)},${call('b')},${call(3)}]`);
  expect(answered(`[${result(1)},{"jsonrpc":"2.0","id":null,${ERROR}]`)).toEqual([
    `[${result(1)}]`,
    `{"jsonrpc":"2.0","id":"b",${ERROR}`,
    `{"jsonrpc":"2.0","id":3,${ERROR}`,
  ]);
});

it('leaves out responses to what does not wait, and an error to a request that was cancelled or answered', () => {
  const { life, answered, leftOut } = liveWith(`[${call(1)},${call(2)},${call(3)}]`);
  expect(answered(result('other'))).toEqual([]);
  life.cancelled(1);
  expect(answered(result(1))).toEqual([]);
  expect(answered(`{"jsonrpc":"2.0","id":1,${ERROR}`)).toEqual([]);
  expect(answered(result(2))).toEqual([result(2)]);
  expect(answered(`{"jsonrpc":"2.0","id":2,${ERROR}`)).toEqual([]);
  expect(leftOut).toHaveBeenCalledTimes(4);
  expect(life.lost()).toEqual([3]);
});

it('ends when all of its requests are cancelled, and is told and tells nothing then', () => {
  const { life, answered } = liveWith(`[${call(1)},${call(2)}]`);
  expect([life.cancelled('1'), life.cancelled(1), life.cancelled(7)]).toEqual([true, false, false]);
  expect(life.ended.aborted).toBe(false);
  life.cancelled(2);
  expect(life.ended.aborted).toBe(true);
  expect(answered('{"jsonrpc":"2.0","method":"notifications/progress"}')).toEqual([]);
  expect(life.lost()).toEqual([]);
});

it('passes on what the server says besides, and tells each request once that nothing comes', () => {
  const { life, answered } = liveWith(call(1));
  const request = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  expect(answered(request)).toEqual([request]);
  expect([life.lost(), life.lost()]).toEqual([[1], []]);
});
