import { once } from 'node:events';
import type { Server } from 'node:http';
import { explainSystemError } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

/** A server that listens, until disposed of. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
}

/**
 * Listens on this port, 0 for a free one. Throws CliError `usage` if it cannot be used.
 *
 * @param next what to do then
 */
export async function listen(
  server: Server,
  { host = '127.0.0.1', port }: { readonly host?: string; readonly port: number },
  next: string,
): Promise<Listening> {
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const detail = `Cannot listen on ${host}:${port}: ${explainSystemError(error)}.`;
    throw new CliError('usage', { detail, next });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
