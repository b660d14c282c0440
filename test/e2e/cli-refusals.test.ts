import { createServer } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { freePort } from '../env/ports.ts';
import { runOri } from './cli-in-process.ts';
import { INTERN_ID, listen, openSignedInWorld } from './cli-world.ts';

const SIGN = ['sign', INTERN_ID, '--path', '/api/invoke', '--data', '{}'];
const CALL = ['call', INTERN_ID, '/api/invoke', '--data', '{}'];
const { world, home } = await openSignedInWorld();
beforeEach(() => {
  world.scripted.length = 0;
  world.requests.length = 0;
});

it('limits the size of responses: of the signer, of a list, and of a daemon under --json', async () => {
  world.scripted.push({ status: 200, body: 'x'.repeat(9 * 1024 * 1024) });
  expect((await runOri(home, SIGN)).stderr).toContain('too long');
  const page = { status: 200, body: { data: [], has_more: true, next_cursor: 'again' } };
  world.scripted.push(...Array(200).fill(page));
  expect((await runOri(home, ['interns', 'list'])).stderr).toContain('endless');
  await using daemon = await listen((_req, res) => res.end(Buffer.alloc(65 * 1024 * 1024)));
  const wrapped = await runOri(home, [...CALL, '--json', '--daemon', daemon.url]);
  expect(wrapped).toMatchObject({ exit: 6, stdout: '' });
});

// SPEC.md C7.
it('distinguishes an unreachable daemon, a silent one and a truncated response', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const unreachable = await runOri(home, [...CALL, '--daemon', nobody]);
  expect(unreachable).toMatchObject({ exit: 6, stdout: '' });
  expect(unreachable.stderr).toContain('nothing listens there');

  await using silent = await listen(() => {});
  const timedOut = await runOri(home, [...CALL, '--daemon', silent.url, '--timeout', '1']);
  expect(timedOut).toMatchObject({ exit: 9, stdout: '' });
  expect(timedOut.stderr).toContain('within 1 s');
  expect(timedOut.stderr).toContain('may have been carried out');

  const breaking = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart of it'));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => breaking.listen(port, '127.0.0.1', resolve));
  const broken = await runOri(home, [...CALL, '--daemon', `http://127.0.0.1:${port}`]);
  breaking.close();
  expect(broken).toMatchObject({ exit: 9, stdout: 'part of it' });
  expect(broken.stderr).toContain('cut off');

  await using stalling = await listen((_req, res) => res.writeHead(200).write('part of it'));
  const stalled = await runOri(home, [...CALL, '--daemon', stalling.url, '--timeout', '1']);
  expect(stalled).toMatchObject({ exit: 9, stdout: 'part of it' });
  expect(stalled.stderr).toContain('within 1 s');
});
