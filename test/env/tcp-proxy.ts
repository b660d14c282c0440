import { connect, createServer, type Socket } from 'node:net';
import { serve } from './serve.ts';

/**
 * What passes. `open`: both directions. `deaf`: nothing reaches the server. `mute`: nothing comes back from the server.
 * `silent`: both.
 * Held bytes are kept until it is opened again, or lost with their connection on `cut`. `shut`: connections are closed as
 * soon as they open. `slowMs`: delays the server's data. `lie`: is sent in reply to all client data, instead of the server's data.
 */
export type Passage =
  | 'open'
  | 'deaf'
  | 'mute'
  | 'silent'
  | 'shut'
  | { readonly slowMs: number }
  | { readonly lie: Uint8Array };

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  set(passage: Passage): void;
  /** Connects to this port from now on. */
  move(target: number): void;
  /**
   * Silences the open connections for ever, and closes none of them. New ones are served.
   * @returns ends the server's side of them, as keep-alive does in the end
   */
  hush(): () => void;
  /** Drops every connection without notifying the other side, like a router that lost its state. */
  cut(): void;
}

/** Forwards bytes to a local port, according to `passage` at the time they arrive. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  let target = port;
  const pairs = new Set<readonly [Socket, Socket]>();
  let passage: Passage = 'open';
  const apply = ([client, server]: readonly [Socket, Socket]): void => {
    if (passage === 'deaf' || passage === 'silent') client.pause();
    else client.resume();
    if (passage === 'mute' || passage === 'silent') server.pause();
    else server.resume();
  };
  /** When the last delayed bytes are due. Later bytes follow them in order. */
  const due = new Map<Socket, number>();
  const toServer = (client: Socket, server: Socket, bytes: Buffer): void => {
    if (typeof passage === 'object' && 'lie' in passage) client.write(passage.lie);
    else server.write(bytes);
  };
  const toClient = (client: Socket, bytes: Buffer): void => {
    if (typeof passage === 'object' && 'lie' in passage) return;
    const now = performance.now();
    const slowMs = typeof passage === 'object' ? passage.slowMs : 0;
    const at = Math.max(due.get(client) ?? 0, now + slowMs);
    due.set(client, at);
    if (at <= now) client.write(bytes);
    else setTimeout(() => client.destroyed || client.write(bytes), at - now).unref();
  };
  const listener = createServer((client) => {
    client.on('error', () => {});
    if (passage === 'shut') return void client.destroy();
    const server = connect(target, '127.0.0.1');
    const pair = [client, server] as const;
    pairs.add(pair);
    client.on('data', (bytes: Buffer) => toServer(client, server, bytes));
    server.on('data', (bytes: Buffer) => toClient(client, bytes));
    for (const [from, to] of [pair, [server, client] as const]) {
      from.setNoDelay();
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        due.delete(client);
        to.destroy();
      });
    }
    apply(pair);
  });
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const served = await serve(listener);
  return {
    ...served,
    set(next) {
      // After a lie, the connection's protocol state is broken, so it cannot be used any more.
      if (next === 'shut' || (typeof passage === 'object' && 'lie' in passage)) cut();
      passage = next;
      for (const pair of pairs) apply(pair);
    },
    move(next) {
      target = next;
    },
    hush() {
      const hushed = [...pairs];
      for (const pair of hushed) for (const socket of pair) socket.pause();
      pairs.clear();
      return () => {
        for (const [, server] of hushed) server.destroy();
      };
    },
    cut,
  };
}
