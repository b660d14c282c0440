import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service with scripted responses that records the requests it gets. */
export interface ScriptedService extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly requests: readonly IncomingMessage[];
}

export async function startScriptedService(script: RequestListener, port = 0): Promise<ScriptedService> {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    script(req, res);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
