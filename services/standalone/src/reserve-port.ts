import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Another program uses the port of the API. */
export class PortTaken extends Error {
  constructor(host: string, port: number, options: ErrorOptions) {
    super(
      `port ${port} on ${host} is used by another program, perhaps another standalone: stop that one, or set ORI_PORT to another port (0: the system chooses)`,
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
