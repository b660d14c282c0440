import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Presentation, sendEnvelope } from './envelope.ts';
import { findExchange } from './exchange.ts';
import { compilePath, type PathParameters, parseTarget } from './target.ts';

export interface Route {
  /** With `{name}` for a parameter; logs and metrics contain this template instead of the path. */
  readonly template: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly handler: (req: IncomingMessage, res: ServerResponse, parameters: PathParameters) => Promise<void>;
}

type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error: unknown) => void) => void;

/**
 * Strict, case-sensitive routing on the raw path. An unknown path gets `notFound`, a known path with another method 405
 * with `Allow`. `HEAD` is routed like `GET` (RFC 9110, section 9.3.2).
 */
export function routeStrictly(routes: readonly Route[], notFound: Presentation): Middleware {
  const places = Map.groupBy(routes, ({ template }) => template);
  const compiled = [...places].map(([template, methods]) => ({
    template,
    methods,
    match: compilePath(template),
  }));
  return (req, res, next) => {
    const path = parseTarget(req.url)?.path ?? '';
    for (const { template, methods, match } of compiled) {
      const parameters = match(path);
      if (parameters === undefined) continue;
      const exchange = findExchange(req);
      if (exchange !== undefined) exchange.route = template;
      const wanted = req.method === 'HEAD' ? 'GET' : req.method;
      const route = methods.find(({ method }) => method === wanted);
      if (route === undefined) sendEnvelope(res, otherMethod(methods));
      else route.handler(req, res, parameters).catch(next);
      return;
    }
    sendEnvelope(res, notFound);
  };
}

function otherMethod(routes: readonly Route[]): Presentation {
  const allow = routes.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
  return { status: 405, message: `This route only allows ${allow}.`, headers: { Allow: allow } };
}
