import { expect } from 'vitest';
import type { RawReply } from './ask-raw.ts';

/** The contents of an envelope besides its status; no metadata by default. */
export interface Expected {
  readonly status: number;
  readonly reason?: string;
  readonly retryable?: boolean;
}

/** Asserts that an answer is an error envelope: no other members, its media type, a request id. */
export function requireEnvelope({ status, head, body }: RawReply, expected: Expected): void {
  const { reason, retryable = false } = expected;
  const metadata = reason === undefined ? {} : { metadata: { reason, retryable } };
  expect({ status, envelope: JSON.parse(body) }).toStrictEqual({
    status: expected.status,
    envelope: {
      error: { code: expected.status, message: expect.stringMatching(/^[A-Z].*\.$/), ...metadata },
    },
  });
  expect(headerOf(head, 'content-type')).toEqual(['application/json']);
  expect(headerOf(head, 'content-length')).toEqual([String(Buffer.byteLength(body))]);
  expect(headerOf(head, 'cache-control')).toEqual(['no-store']);
  expect(headerOf(head, 'x-request-id')).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(headerOf(head, 'server').join()).not.toMatch(/\d/);
}

/** All values of a header in the head of an answer. */
export function headerOf(head: string, name: string): string[] {
  return head
    .split('\r\n')
    .slice(1)
    .map((line) => /^([^:]+): *(.*)$/.exec(line))
    .filter((match) => match?.[1]?.toLowerCase() === name)
    .map((match) => match?.[2] ?? '');
}
