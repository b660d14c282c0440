import type { IncomingMessage, RequestListener } from 'node:http';
import { type ApiServer, type Sinks, startApiServer } from '@ori/http/server';
import { parseTarget } from '@ori/http/target';

export interface Behind {
  readonly app: RequestListener;
  readonly sinks: Sinks;
}

/**
 * One address for both services, like a gateway: signing, keys and metadata go to the signer, the rest to management.
 */
export function openFrontDoor(
  place: { readonly host: string; readonly port: number; readonly deadlineMs: number },
  { signer, management }: { readonly signer: Behind; readonly management: Behind },
  startPage: RequestListener,
): Promise<ApiServer> {
  const behind = (target: string | undefined) =>
    SIGNERS.test(parseTarget(target)?.path ?? '') ? signer : management;
  return startApiServer({
    ...place,
    app: (req, res) => {
      if (isBrowserAtTheApi(req)) req.url = '/';
      const app = START.test(req.url ?? '') ? startPage : behind(req.url).app;
      app(req, res);
    },
    sinksOf: (req) => behind(req.url).sinks,
  });
}

/** A browser that opened the base address of the API. For other clients that stays 404, as JSON. */
function isBrowserAtTheApi({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && /^\/v1\/?$/.test(url) && /\btext\/html\b/.test(headers.accept ?? '');
}

const START = /^\/(?:$|\?|start[./])/;

/** By the raw path, like everywhere. */
const SIGNERS = /^\/v1\/interns\/[^/]+\/daemon\/|^\/\.well-known\//;
