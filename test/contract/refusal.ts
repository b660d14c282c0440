import { expect } from 'vitest';
import type { Reply } from '../env/http-client.ts';

export interface ExpectedRefusal {
  readonly status: number;
  /** Absent: the envelope has no metadata. */
  readonly reason?: string;
  readonly retryable?: boolean;
}

/** Requires exactly the error envelope of this refusal, without any part of a proof. */
export function expectRefusal(answer: Reply, { status, reason, retryable = false }: ExpectedRefusal): void {
  const metadata = reason === undefined ? {} : { metadata: { reason, retryable } };
  expect({ status: answer.status, body: answer.json() }).toEqual({
    status,
    body: { error: { code: status, message: expect.stringMatching(/^[A-Z].*\.$/), ...metadata } },
  });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.text).not.toContain('x-ori-invoke');
}
