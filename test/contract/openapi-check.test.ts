import { AssertionError } from 'node:assert';
import { expect, test } from 'vitest';
import { type Exchanged, requireDocumented } from './openapi-check.ts';

const GUARDRAIL = '/v1/guardrails/8f6b0c52-3c1e-4a8f-9d57-2f1f6f6f0a11';
const json = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': 'r1' };

/** The response to a deletion, with the given changes. */
const exchanged = (changes: Partial<Exchanged> = {}): Exchanged => ({
  method: 'DELETE',
  path: GUARDRAIL,
  status: 200,
  headers: json,
  text: '{"deleted":true}',
  ...changes,
});
const envelope = (code: number, metadata?: object) =>
  JSON.stringify({ error: { code, message: 'No.', ...(metadata && { metadata }) } });
const added = (at: string): Partial<Exchanged> => {
  const member = { id: 'w:u', workspace_id: 'w', user_id: 'u', role: 'member', created_at: at };
  const text = JSON.stringify({ added_count: 1, data: [member] });
  return { method: 'POST', path: '/v1/workspaces/w/members/add', text };
};
const hidden = { reason: 'not_found', retryable: false };

test.each<[string, Partial<Exchanged>]>([
  ['a status that is not listed', { status: 409, text: envelope(409) }],
  ['a status that only `default` would cover', { status: 502, text: envelope(502) }],
  ['another media type', { headers: { ...json, 'content-type': 'text/html' } }],
  ['a property that is not described', { text: '{"deleted":true,"id":1}' }],
  ['a value that is not described', { text: '{"deleted":"true"}' }],
  ['a time without milliseconds', added('2026-11-20T12:00:00Z')],
  ['a missing header', { headers: { ...json, 'cache-control': undefined } }],
  ['a missing request id', { headers: { ...json, 'x-request-id': undefined } }],
  ['another value of a header', { headers: { ...json, 'cache-control': 'public' } }],
  ['a 401 without its challenge', { status: 401, text: envelope(401) }],
  ['metadata that is not described', { status: 404, text: envelope(404, hidden) }],
  ['missing metadata', { method: 'GET', path: '/v1/interns', status: 404, text: envelope(404) }],
  [
    'another reason',
    { method: 'GET', path: '/v1/interns', status: 404, text: envelope(404, { ...hidden, reason: 'gone' }) },
  ],
  ['a code that is not the status', { status: 404, text: envelope(400) }],
  ['a method that is not listed', { method: 'PUT', status: 200 }],
  [
    'a 405 that allows something else',
    { method: 'PUT', status: 405, headers: { ...json, allow: 'GET' }, text: envelope(405) },
  ],
  ['a success of a path of the other service', { method: 'POST', path: '/v1/interns/int_1/daemon/sign' }],
  ['a success of a path that does not exist', { path: '/v1/nothing' }],
])('refuses %s', (_, changes) => {
  expect(() => requireDocumented(exchanged(changes), 'management')).toThrow(AssertionError);
});
