import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';

/** A port with a frozen owner and a full queue: connections to it are neither accepted nor refused. */
export interface DeafListener extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly address: string;
}

const LISTEN = `require('node:net').createServer().listen({ host: '127.0.0.1', port: +process.argv[1], backlog: 1 }, () => console.log('up'))`;
/** A queue of length 1 holds two connections. */
const QUEUE = 2;

export async function startDeafListener(): Promise<DeafListener> {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-deaf'));
  const port = await freePort();
  const child = spawn(process.execPath, ['-e', LISTEN, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  room.admit(child, 'KILL');
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  for (let count = 0; count < QUEUE; count += 1) {
    const socket = stack.adopt(connect(port, '127.0.0.1'), (open) => void open.destroy());
    await once(socket, 'connect');
  }
  const owned = stack.move();
  return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
