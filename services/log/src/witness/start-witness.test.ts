import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startTestWitness } from '@ori/test-env/log-witness';
import { expect, it } from 'vitest';

it('refuses requests beyond its limit on concurrent ones', async () => {
  const seed = randomBytes(32).toString('base64');
  await using witness = await startTestWitness('log.example/log', seed, {
    WITNESS_REQUESTS_IN_FLIGHT_MAX: '1',
  });
  const { hostname, port } = new URL(witness.url);
  const waiting = connect(Number(port), hostname);
  waiting.write(
    'POST /add-checkpoint HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n',
  );
  // It continues, so it is in progress until its body comes.
  await once(waiting, 'data');
  const { status } = await fetch(new URL('/log.example%2Flog/checkpoint', witness.url));
  expect(status).toBe(500);
  waiting.destroy();
});
