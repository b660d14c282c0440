import type { IncomingMessage, RequestListener } from 'node:http';
import express, { type RequestHandler } from 'express';
import { sendEnvelope } from '../ground/envelope.ts';
import { findExchange } from '../ground/exchange.ts';
import type { Presentation } from '../ground/presentation.ts';
import { errorHandler, type Presenter } from './error-handler.ts';

export type { Request } from 'express';

/** One operation of an application. */
export interface Route {
  /**
   * With `{name}` for a segment that is a parameter, as in OpenAPI. Logs and metrics contain this template instead of
   * the path.
   */
  readonly template: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** An Express handler, whose failures reach `present`. `req.originalUrl` has the raw path. */
  readonly handler: RequestHandler<Record<string, string>>;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  /** The answer to a path that no route matches. */
  readonly notFound: Presentation;
  /** See {@link errorHandler}. */
  readonly present: Presenter;
}

/**
 * An Express application that routes strictly and case-sensitively, and answers every failure with an envelope. A known
 * path with another method gets 405 with `Allow`. Where two templates match a path, the first one wins.
 */
export function createExpressApp({ routes, notFound, present }: AppOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by').disable('query parser');
  app.enable('strict routing').enable('case sensitive routing');
  for (const [template, methods] of Map.groupBy(routes, ({ template }) => template)) {
    const route = app.route(expressPath(template));
    for (const { method, handler } of methods) {
      route[method.toLowerCase() as 'get'](named(template, handler as unknown as RequestHandler));
    }
    route.all(named(template, refuseMethod(methods)));
  }
  app.use((_req, res) => sendEnvelope(res, notFound));
  app.use(errorHandler(present));
  return (req, res) => {
    keepUndecodable(req);
    app(req, res);
  };
}

/** `{name}` is `:name` to Express. Every other character is literal. */
function expressPath(template: string): string {
  return template.replace(/\{(\w+)\}|[{}()[\]+?!:*\\]/g, (literal, name?: string) =>
    name === undefined ? `\\${literal}` : `:${name}`,
  );
}

/**
 * Express refuses a parameter that does not decode before its handler has authenticated the caller. With its percent
 * signs escaped, such a path reaches the handler with its parameters as they were sent, which name nothing.
 */
function keepUndecodable(req: IncomingMessage): void {
  const { url = '' } = req;
  if (url.includes('%') && !isDecodable(url.split('?', 1)[0] ?? '')) req.url = url.replaceAll('%', '%25');
}

/** Compares the result, because the bundler removes a call whose result is unused. */
function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

function named(template: string, handler: RequestHandler): RequestHandler {
  return (req, res, next) => {
    const exchange = findExchange(req);
    if (exchange !== undefined) exchange.route = template;
    return handler(req, res, next);
  };
}

function refuseMethod(routes: readonly Route[]): RequestHandler {
  const allow = routes.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
  const refusal = { status: 405, message: `This route only allows ${allow}.`, headers: { Allow: allow } };
  return (_req, res) => sendEnvelope(res, refusal);
}
