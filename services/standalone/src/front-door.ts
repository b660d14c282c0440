import type { IncomingMessage, RequestListener } from 'node:http';
import { pageHeaders } from '@ori/faces/html';
import { type ApiServer, type Sinks, startApiServer } from '@ori/http/server';
import { parseTarget } from '@ori/http/target';

/** A service that runs in this process. */
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
  welcome: string,
): Promise<ApiServer> {
  const behind = (target: string | undefined) =>
    SIGNERS.test(parseTarget(target)?.path ?? '') ? signer : management;
  return startApiServer({
    ...place,
    app: (req, res) => {
      if (isAtTheDoor(req)) res.writeHead(200, pageHeaders()).end(welcome);
      else behind(req.url).app(req, res);
    },
    sinksOf: (req) => behind(req.url).sinks,
  });
}

/** Anyone at `/`, and a browser at the base address of the API, which is 404 as JSON for its clients. */
function isAtTheDoor({ method = '', url = '', headers }: IncomingMessage): boolean {
  if (!/^(?:GET|HEAD)$/.test(method)) return false;
  return url === '/' || (/^\/v1\/?$/.test(url) && /\btext\/html\b/.test(headers.accept ?? ''));
}

/** By the raw path, like everywhere. */
const SIGNERS = /^\/v1\/interns\/[^/]+\/daemon\/|^\/\.well-known\//;
