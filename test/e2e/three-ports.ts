import { connect } from 'node:net';
import { freePort } from '../env/ports.ts';

/** The first of three free consecutive ports. */
export async function freePortWithNeighbours(): Promise<number> {
  for (;;) {
    const port = await freePort();
    const neighbours = await Promise.all([1, 2].map((by) => isOpen(`http://127.0.0.1:${port + by}`)));
    if (port < 65_000 && neighbours.every((open) => !open)) return port;
  }
}

/** Whether something listens at a URL. */
export function isOpen(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
