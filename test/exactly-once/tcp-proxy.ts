import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * What passes. `open`: both ways. `deaf`: nothing reaches the server any more. `mute`: the server hears, and nobody hears it.
 * Bytes that did not pass are kept until it is opened again, or lost with their connection at `cut`.
 */
export type Passage = 'open' | 'deaf' | 'mute';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  set(passage: Passage): void;
  /** Ends every connection without a word to the other side, as a router does that lost its tables. */
  cut(): void;
}

/** Passes bytes on to a port of this machine. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let passage: Passage = 'open';
  const apply = ([client, server]: readonly [Socket, Socket]): void => {
    if (passage === 'deaf') client.pause();
    else client.resume();
    if (passage === 'mute') server.pause();
    else server.resume();
  };
  const listener = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    const pair = [client, server] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      from.setNoDelay();
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    apply(pair);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    set(next) {
      passage = next;
      for (const pair of pairs) apply(pair);
    },
    cut() {
      for (const [client, server] of pairs) {
        client.destroy();
        server.destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close');
      listener.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await closed;
    },
  };
}
