import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { capturedLog } from '@ori/test-env/captured-log';
import { openRoom } from '@ori/test-env/room';
import { expect, it } from 'vitest';
import { startAgent } from './start-agent.ts';

it('leaves the socket to an agent that runs', async () => {
  await using room = await openRoom('ori-kms-socket');
  const config = {
    socket: join(room.directory, 'kms.sock'),
    key: { aws: { keyId: 'x' } },
    logLevel: 'info',
  } as const;
  const { log } = capturedLog();
  const first = await startAgent(config, log);
  await expect(startAgent(config, log)).rejects.toThrow('in use');
  const socket = connect(config.socket);
  await once(socket, 'connect');
  socket.destroy();
  // Its user and its group: who can connect can unwrap a ring.
  expect(statSync(config.socket).mode & 0o777).toBe(0o660);
  await first.stop();
  await (await startAgent(config, log)).stop();
});
