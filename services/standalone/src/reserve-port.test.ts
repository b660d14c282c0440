import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { explainTaken, reservePort } from './reserve-port.ts';

it('says what to do about a port that is taken before or during the start', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const told = { name: 'PortTaken', message: expect.stringMatching(`port ${port} on 127.0.0.1 .* ORI_PORT`) };
  await expect(reservePort('127.0.0.1', port)).rejects.toMatchObject(told);
  const late = await new Promise((resolve) =>
    createServer().once('error', resolve).listen(port, '127.0.0.1'),
  );
  expect(explainTaken(late)).toMatchObject(told);
  server.close();
  const other = new Error('another');
  expect(explainTaken(other)).toBe(other);
});

it('reserves the requested port, and a free one for 0', async () => {
  const chosen = await reservePort('127.0.0.1', 0);
  expect(chosen).toBeGreaterThan(0);
  expect(await reservePort('127.0.0.1', chosen)).toBe(chosen);
});
