import { DeadlineError } from '@ori/http/deadline';
import { startApiServer } from '@ori/http/server';
import { expect, it } from 'vitest';
import { refuse } from './refuse.ts';

it('leaves the answer at the deadline to the server, of which it may hear a moment earlier', async () => {
  const deadlineMs = 300;
  const server = await startApiServer({
    app: (req, res) => refuse(req, res, new DeadlineError(deadlineMs)),
    host: '127.0.0.1',
    port: 0,
    deadlineMs,
  });
  try {
    expect((await fetch(server.url)).status).toBe(408);
  } finally {
    await server.stop({ graceMs: 0 });
  }
});
