import { expect, it } from 'vitest';
import { isForgotten } from './forgotten.ts';

const said = (message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } });

it.each([
  [404, said('Session not found')],
  [404, 'Not Found'],
  [410, ''],
  [400, said('Bad Request: No valid session ID provided')],
  [400, 'Bad Request: No valid session ID provided'],
  [400, said('Bad Request: Server not initialized')],
  [400, 'Invalid session ID'],
  [401, 'Unauthorized: Session not found'],
])('knows a forgotten session by %d %s', (status, text) => {
  expect(isForgotten(status, undefined, text)).toBe(true);
});

it.each([
  [400, undefined, said('Bad Request: Unsupported protocol version')],
  [401, undefined, 'Unauthorized'],
  [500, undefined, said('No valid session ID provided')],
  [404, 'not_found', '{"error":{"code":"not_found"}}'],
])('does not take another refusal for one: %d %s %s', (status, code, text) => {
  expect(isForgotten(status, code, text)).toBe(false);
});
