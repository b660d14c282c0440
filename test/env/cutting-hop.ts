import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { serve } from './serve.ts';

/** What happens to one connection. */
export interface Cut {
  /** Passes on this many bytes of the request, or of the answer, and ends both connections. */
  readonly request?: number;
  readonly answer?: number;
  /** Ends the connection of the client at once, and passes the request on after this many milliseconds. */
  readonly late?: number;
}

/**
 * A hop in front of a server. `plan` is asked about each connection, with the first bytes that the client sends.
 *
 * @param portOf the port of the server at the time of a connection
 */
export async function startCuttingHop(portOf: () => number, plan: (head: string) => Cut | undefined) {
  const late: Promise<unknown>[] = [];
  let cuts = 0;
  const hop = createServer((client) => {
    const server = connect(portOf(), '127.0.0.1');
    for (const socket of [client, server]) socket.on('error', () => undefined);
    let isLate = false;
    server.on('close', () => client.destroy());
    client.on('close', () => isLate || server.destroy());
    client.once('data', (first: Buffer) => {
      const cut = plan(first.toString('latin1')) ?? {};
      if (cut.late === undefined) {
        pass(client, server, cut.request);
        pass(server, client, cut.answer);
        client.emit('data', first);
      } else {
        isLate = true;
        cuts += 1;
        client.destroy();
        late.push(arrive(server, first, cut.late));
      }
    });
  });

  function pass(from: Socket, to: Socket, bytesMax = Number.POSITIVE_INFINITY): void {
    let left = bytesMax;
    from.on('data', (chunk: Buffer) => {
      if (left < 0) return;
      const isLast = chunk.length > left;
      const passed = isLast ? chunk.subarray(0, left) : chunk;
      left = isLast ? -1 : left - chunk.length;
      to.write(passed);
      if (!isLast) return;
      cuts += 1;
      // What was passed on arrives before the end of the connection.
      to.end(() => from.destroy());
    });
  }

  async function arrive(server: Socket, request: Buffer, ms: number): Promise<void> {
    await pause(ms);
    if (server.closed) return;
    server.write(request);
    // Answered, or refused: nothing more is to come.
    server.once('data', () => server.destroy());
    await new Promise((resolve) => server.once('close', resolve));
  }

  return {
    ...(await serve(hop)),
    cuts: () => cuts,
    /** Resolves when every late request has been answered. */
    settled: () => Promise.all(late),
  };
}
