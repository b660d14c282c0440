import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports of outgoing connections and of listeners on port 0, one of which could take it meanwhile. */
const RANGE = [15_000, 32_000] as const;

export class PortTaken extends Error {
  constructor(host: string, port: number, options: ErrorOptions) {
    super(
      `port ${port} on ${host} is used by another program, perhaps another standalone: stop that one, or set ORI_PORT to another port (0: any free one)`,
      options,
    );
    this.name = 'PortTaken';
  }
}

/**
 * Checks that the port is free before anything starts, and chooses one for 0: the base address is part of tokens and
 * sealed keys, so it must be known first. The port is not held until the signer listens on it.
 *
 * @throws PortTaken
 */
export async function reservePort(host: string, port: number): Promise<number> {
  for (;;) {
    const chosen = port === 0 ? randomInt(...RANGE) : port;
    const server = createServer();
    try {
      server.listen(chosen, host);
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return chosen;
    } catch (cause) {
      if (!isTaken(cause)) throw cause;
      if (port !== 0) throw new PortTaken(host, port, { cause });
    }
  }
}

/** The same for a port that was taken since. */
export function explainTaken(error: unknown): unknown {
  return isTaken(error) ? new PortTaken(error.address ?? '', error.port ?? 0, { cause: error }) : error;
}

function isTaken(error: unknown): error is NodeJS.ErrnoException & { address?: string; port?: number } {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
