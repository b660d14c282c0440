import { expect, it } from 'vitest';
import { headersOfStateless, type JsonRpcText, readJsonRpc } from './json-rpc.ts';

const requestOf = (method: string, params: object) =>
  readJsonRpc(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }, ...params },
    }),
  ) as JsonRpcText;

it.each([
  ['tools/call', { name: 'x' }, 'x'],
  ['resources/read', { uri: 'file:///a b' }, 'file:///a b'],
  ['tasks/get', { taskId: '7' }, '7'],
  ['prompts/get', { name: 'é' }, '=?base64?w6k=?='],
  ['prompts/get', { name: 'a\r\nx-other: b' }, '=?base64?YQ0KeC1vdGhlcjogYg==?='],
  ['prompts/get', { name: ' a' }, '=?base64?IGE=?='],
  ['prompts/get', { name: '=?base64?eA==?=' }, '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
  ['prompts/get', { name: '' }, '=?base64??='],
  ['tools/list', { name: 'x' }, undefined],
  ['constructor', { name: 'x' }, undefined],
])('repeats method and name of a stateless request in its headers: %s %j', (method, params, name) => {
  expect(headersOfStateless(requestOf(method, params))).toEqual({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  });
});

it('adds no header to a message without a version of its own, or with one that no header can carry', () => {
  const version = { 'io.modelcontextprotocol/protocolVersion': '1\r\nx: y' };
  expect(headersOfStateless(requestOf('tools/list', { _meta: {} }))).toEqual({});
  expect(headersOfStateless(requestOf('tools/list', { _meta: version }))).toEqual({});
  expect(headersOfStateless(requestOf('a\r\nx: y', {}))).toEqual({});
});

it.each([
  '1',
  'null',
  '[]',
  '[1]',
  '{}',
  '{"jsonrpc":"1.0","id":1,"method":"a"}',
  '{"jsonrpc":"2.0","id":null,"method":"a"}',
  '{"jsonrpc":"2.0","id":1}',
  '{"jsonrpc":"2.0","id":1,"method":1}',
  '{"jsonrpc":"2.0","id":1,"result":1,"error":{}}',
  '{"jsonrpc":"2.0","result":1}',
])('takes no other JSON for JSON-RPC: %s', (text) => {
  expect(readJsonRpc(text)).toBe('invalid');
});

it('reads the ids of a batch, and what a response answers', () => {
  const batch =
    '[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","id":"c","result":0}]';
  expect(readJsonRpc(batch)).toMatchObject({ ids: [1], answers: ['c'], method: undefined });
  expect(readJsonRpc('{')).toBe('parse');
});
