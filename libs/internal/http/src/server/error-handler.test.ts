import { capturedLog } from '@ori/test-env/captured-log';
import express from 'express';
import { afterEach, expect, it } from 'vitest';
import type { Presentation } from '../ground/presentation.ts';
import { errorHandler } from './error-handler.ts';
import { type ApiServer, startApiServer } from './server.ts';

let server: ApiServer | undefined;
afterEach(() => server?.stop({ graceMs: 0 }));

async function serveFailing(error: unknown, present: (error: unknown) => Presentation | undefined) {
  const captured = capturedLog();
  const app = express();
  app.get('/begun', (_req, res) => {
    res.setHeader('content-length', 100).write('half');
    throw error;
  });
  app.get('/', () => {
    throw error;
  });
  app.use(errorHandler(present));
  server = await startApiServer({ app, host: '127.0.0.1', port: 0, deadlineMs: 5000, log: captured.log });
  return { url: server.url, ...captured };
}

const known = (error: unknown) =>
  error instanceof RangeError ? { status: 409, message: 'Conflict' } : undefined;

it.each([
  ['is not known', known],
  [
    'cannot be presented',
    () => {
      throw new Error('broken table');
    },
  ],
  [
    'has a header that cannot be sent',
    () => ({ status: 409, message: 'No', headers: { Allow: 'inside\r\n' } }),
  ],
])(
  'answers 500 internal_error to a failure that %s, with its message only in the log',
  async (_name, present) => {
    const { url, lines } = await serveFailing(
      new Error('inside', { cause: new TypeError('deeper') }),
      present,
    );
    const answer = await fetch(url);
    const body = await answer.text();
    expect(answer.status).toBe(500);
    expect(JSON.parse(body).error.metadata).toEqual({ reason: 'internal_error', retryable: true });
    expect(body).not.toContain('inside');
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatchObject({
      level: 'error',
      err: { class: 'Error', message: 'inside', causes: ['TypeError: deeper'] },
    });
  },
);

it('cuts off an answer that had begun', async () => {
  const { url } = await serveFailing(new Error('inside'), known);
  await expect(fetch(`${url}/begun`).then((answer) => answer.text())).rejects.toThrow();
});
