import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendEnvelope } from '@ori/service-kit/envelope';
import { findExchange } from '@ori/service-kit/exchange';
import { parseTarget } from '@ori/service-kit/target';
import type { RequestHandler } from 'express';
import { NOT_FOUND } from './presentations.ts';

export interface RouteParameters {
  /** The raw segment, still percent-encoded. */
  readonly internId?: string | undefined;
}

export type RouteHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  parameters: RouteParameters,
) => Promise<void>;

export interface Route {
  /** With `{internId}` for that segment; the only thing about the path that logs and metrics see. */
  readonly template: string;
  readonly method: 'GET' | 'POST';
  readonly handler: RouteHandler;
}

/**
 * Strict, case-sensitive routing on the raw path: no decoding, no merging of slashes, no forgiving of a trailing one.
 * Unknown paths are 404; known paths with another method are 405. `HEAD` goes where `GET` goes (RFC 9110, 9.3.2).
 */
export function routeStrictly(routes: readonly Route[]): RequestHandler {
  const compiled = routes.map((route) => ({ ...route, pattern: patternOf(route.template) }));
  return (req, res, next) => {
    const path = parseTarget(req.originalUrl)?.path ?? '';
    for (const { template, pattern, method, handler } of compiled) {
      const match = pattern.exec(path);
      if (match === null) continue;
      const exchange = findExchange(req);
      if (exchange !== undefined) exchange.route = template;
      if (req.method === method || (method === 'GET' && req.method === 'HEAD')) {
        handler(req, res, { internId: match[1] }).catch(next);
      } else {
        const allow = method === 'GET' ? 'GET, HEAD' : method;
        sendEnvelope(res, {
          status: 405,
          message: `This route only takes ${allow}.`,
          headers: { Allow: allow },
        });
      }
      return;
    }
    sendEnvelope(res, NOT_FOUND);
  };
}

function patternOf(template: string): RegExp {
  const literal = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace('{internId}', '([^/]+)')}$`);
}
