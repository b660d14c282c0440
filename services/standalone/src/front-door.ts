import type { IncomingMessage, RequestListener } from 'node:http';
import { pageHeaders } from '@ori/faces/html';
import { DEADLINE_MS } from '@ori/http/open-ports';
import { type ApiServer, type Sinks, startApiServer } from '@ori/http/server';
import { parseTarget } from '@ori/http/target';
import { renderMissingPage } from './openid/pages.ts';

export interface Behind {
  readonly app: RequestListener;
  readonly sinks: Sinks;
}

/**
 * One address for both services, like a gateway: signing, keys and metadata go to the signer, the rest to management.
 */
export function openFrontDoor(
  { baseUrl, ...place }: { readonly baseUrl: string; readonly host: string; readonly port: number },
  { signer, management }: { readonly signer: Behind; readonly management: Behind },
  startPage: RequestListener,
): Promise<ApiServer> {
  const missing = renderMissingPage(baseUrl);
  const behind = (target: string | undefined) =>
    SIGNERS.test(parseTarget(target)?.path ?? '') ? signer : management;
  return startApiServer({
    ...place,
    deadlineMs: DEADLINE_MS,
    app: (req, res) => {
      if (isBrowserAt(req, API)) req.url = '/';
      if (isBrowserAt(req, NOWHERE)) return void res.writeHead(404, pageHeaders()).end(missing);
      const app = START.test(req.url ?? '') ? startPage : behind(req.url).app;
      app(req, res);
    },
    sinksOf: (req) => behind(req.url).sinks,
  });
}

/** For other clients both stay 404, as JSON. */
function isBrowserAt({ method, url = '', headers }: IncomingMessage, place: RegExp): boolean {
  return method === 'GET' && place.test(url) && /\btext\/html\b/.test(headers.accept ?? '');
}

/** The base address of the API. */
const API = /^\/v1\/?$/;
/** Neither the API, its reference nor the start page. */
const NOWHERE = /^\/(?!$|\?|start[./]|v1\/(?!docs\/)|\.well-known\/)/;
const START = /^\/(?:$|\?|start[./])/;

/** By the raw path, like everywhere. */
const SIGNERS = /^\/v1\/interns\/[^/]+\/daemon\/|^\/\.well-known\//;
