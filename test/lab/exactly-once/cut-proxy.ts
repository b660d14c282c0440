import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to one connection. Without any of these, nothing. */
export interface Cut {
  /** After this many bytes from the client both connections end. */
  readonly upBytes?: number;
  /** After this many bytes from the daemon. */
  readonly downBytes?: number;
  /** The client's connection ends at once; what it sent reaches the daemon this much later. */
  readonly lateMs?: number;
}

/** A connection to the daemon that can be cut. One at a time has a plan. */
export async function startCutProxy(daemonPort: () => number) {
  let plan: Cut = {};
  const late: Promise<void>[] = [];
  const server = createServer({ allowHalfOpen: false }, (down) => {
    const cut = plan;
    plan = {};
    if (cut.lateMs !== undefined) late.push(deliverLate(down, daemonPort(), cut.lateMs));
    else relay(down, connect(daemonPort(), '127.0.0.1'), cut);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutNext(cut: Cut) {
      plan = cut;
    },
    /** Everything that was held back has been delivered and answered. */
    settled: () => Promise.all(late),
    stop: () => void server.close(),
  };
}

function relay(down: Socket, up: Socket, { upBytes, downBytes }: Cut): void {
  const end = (): void => {
    down.destroy();
    up.destroy();
  };
  for (const socket of [down, up]) socket.on('error', end).on('close', end);
  pass(down, up, upBytes, end);
  pass(up, down, downBytes, end);
}

function pass(from: Socket, to: Socket, bytesMax: number | undefined, end: () => void): void {
  let left = bytesMax ?? Number.POSITIVE_INFINITY;
  from.on('data', (chunk: Buffer) => {
    if (chunk.length <= left) {
      left -= chunk.length;
      to.write(chunk);
      return;
    }
    to.write(chunk.subarray(0, left), end);
    left = 0;
  });
}

async function deliverLate(down: Socket, port: number, lateMs: number): Promise<void> {
  const bytes = await new Promise<Buffer>((resolve) => {
    down
      .on('error', () => undefined)
      .once('data', resolve)
      .once('close', () => resolve(Buffer.alloc(0)));
  });
  down.destroy();
  await new Promise((resolve) => setTimeout(resolve, lateMs));
  const up = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise<void>((resolve) => up.once('close', () => resolve()));
  // Answered, or refused: nothing more is to come.
  up.once('data', () => up.destroy());
  up.write(bytes);
  await closed;
}
