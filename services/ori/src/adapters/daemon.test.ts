import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { serve } from '@ori/test-env/serve';
import { expect, it } from 'vitest';
import { callDaemon } from './daemon.ts';
import { bodyOf } from './request-body.ts';
import { newTraceparent } from './trace.ts';

it('does not take a reader that pauses for a daemon that is silent', async () => {
  const bytes = 20_000_000;
  await using daemon = await serve(createServer((_req, res) => res.end(Buffer.alloc(bytes))));
  const answer = await callDaemon(
    {
      origin: new URL(daemon.url),
      path: '/',
      contentType: 'text/plain',
      headers: {},
      body: bodyOf(Buffer.of()),
      proof: {},
      trace: newTraceparent(),
      silenceSeconds: 1,
    },
    new AbortController().signal,
  );
  let read = 0;
  for await (const chunk of answer.body) {
    // Long enough for a limit that counts it.
    if (read === 0) await pause(1500);
    read += chunk.length;
  }
  expect(read).toBe(bytes);
});
