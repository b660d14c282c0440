import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Thrown when another program listens where the API is to listen. */
export class PortTaken extends Error {
  constructor(host: string, port: number, options: ErrorOptions) {
    super(
      `port ${port} on ${host} is taken by another program, perhaps another standalone: stop that one, or set ORI_PORT to another port (0: the system chooses)`,
      options,
    );
    this.name = 'PortTaken';
  }
}

/**
 * Makes sure that the port is free before anything is started, and chooses one for 0: the base address is part of
 * tokens and sealed keys, so it must be known first. Nothing keeps the port until the signer listens on it.
 *
 * @throws PortTaken
 */
export async function reservePort(host: string, port: number): Promise<number> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')
      throw new PortTaken(host, port, { cause });
    throw cause;
  }
  const chosen = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return chosen;
}
