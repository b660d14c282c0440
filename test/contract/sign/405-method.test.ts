import { expect, test } from 'vitest';
import { expectRefusal } from '../refusal.ts';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld();

test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
  '%s is not a method of the route',
  async (method) => {
    const answer = await world.sign({ method });
    expectRefusal(answer, { status: 405 });
    expect(answer.headers['allow']).toBe('POST');
  },
);

test('HEAD is not a method of the route either, and has no body', async () => {
  const answer = await world.sign({ method: 'HEAD' });
  expect(answer).toMatchObject({ status: 405, text: '', headers: { allow: 'POST' } });
});
