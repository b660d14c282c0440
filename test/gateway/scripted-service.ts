import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type Served, serve } from '../env/serve.ts';

/** A service with scripted responses that records the requests it gets. */
export interface ScriptedService extends Served<Server> {
  readonly requests: readonly IncomingMessage[];
}

export async function startScriptedService(script: RequestListener, port = 0): Promise<ScriptedService> {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    const done: unknown = script(req, res);
    // A client that leaves in the middle of its body.
    if (done instanceof Promise) done.catch(() => res.destroy());
  });
  return { ...(await serve(server, port)), requests };
}
