import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { requireProof as forExpress, provenOf } from '../../../libs/public/verifier/src/adapters/express.ts';
import { requireProof as forFastify } from '../../../libs/public/verifier/src/adapters/fastify.ts';
import { requireProof as forFetch } from '../../../libs/public/verifier/src/adapters/fetch.ts';
import type { RequireProofOptions } from '../../../libs/public/verifier/src/adapters/guard.ts';
import { requireProof as forHono } from '../../../libs/public/verifier/src/adapters/hono.ts';
import { requireProof as forKoa } from '../../../libs/public/verifier/src/adapters/koa.ts';
import { requireProof as forNode } from '../../../libs/public/verifier/src/adapters/node.ts';
import type { VerifiedProof } from '../../../libs/public/verifier/src/verified-proof.ts';
import type { Verifier } from '../../../libs/public/verifier/src/verifier.ts';
import { send } from '../raw-http.ts';
import { serve } from '../serve.ts';

export const PATH = '/api/invoke';
/** Where a daemon is mounted: at the call, and at the questions about lost answers. */
const PATHS = [PATH, '/.well-known/ori/calls/:nonce'];
const OPTIONS = { bodyBytesMax: 1000 };

/** A raw request, except for the framing of its body. */
export interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Disconnects after this many bytes of the body. */
  readonly cutAfter?: number;
  /** Disconnects with RST instead of FIN. */
  readonly resets?: boolean;
}

/** What the client received. No status if the connection ended first. */
export interface Heard {
  readonly status: number | undefined;
  readonly code: string | undefined;
}

export interface GuardedDaemon {
  /** If the daemon listens. */
  readonly port?: number;
  send(sent: Sent): Promise<Heard>;
  stop(): Promise<void>;
}

/** Called by each handler with its arguments. */
export type Ran = (proof: VerifiedProof | undefined, body: Uint8Array | undefined) => void | Promise<void>;

export interface Adapter {
  readonly name: string;
  start(verifier: Verifier, ran: Ran): Promise<GuardedDaemon>;
  /** The adapter with the given options and an empty handler. */
  guardWith(verifier: Verifier, options: RequireProofOptions): unknown;
  /** The same, behind middleware that has already read the body. */
  startBehindParser?(verifier: Verifier, ran: Ran): Promise<GuardedDaemon>;
}

/** Every adapter, mounted as a daemon's author would mount it. */
export const ADAPTERS: readonly Adapter[] = [
  {
    name: 'node:http',
    guardWith: (verifier, options) => forNode(verifier, options, () => undefined),
    start: (verifier, ran) =>
      mount(
        forNode(verifier, OPTIONS, async (_req, res, proven) => {
          await ran(proven?.proof, proven?.body);
          res.end('{}');
        }),
      ),
    startBehindParser: (verifier, ran) => {
      const guarded = forNode(verifier, OPTIONS, (_req, res, proven) => {
        ran(proven?.proof, proven?.body);
        res.end('{}');
      });
      return mount((req, res) => void req.once('data', () => guarded(req, res)));
    },
  },
  {
    name: 'Express handler',
    guardWith: (verifier, options) => forExpress(verifier, options, () => undefined),
    start: (verifier, ran) => mount(quiet(express()).post(PATHS, expressHandler(verifier, ran))),
    startBehindParser: (verifier, ran) =>
      mount(quiet(express()).use(express.json()).post(PATH, expressHandler(verifier, ran))),
  },
  {
    name: 'Express middleware',
    guardWith: (verifier, options) => forExpress(verifier, options),
    start: (verifier, ran) => mount(behindMiddleware(quiet(express()), verifier, ran)),
    startBehindParser: (verifier, ran) =>
      mount(behindMiddleware(quiet(express()).use(express.json()), verifier, ran)),
  },
  {
    name: 'Fastify',
    guardWith: (verifier, options) => forFastify(verifier, options, () => undefined),
    async start(verifier, ran) {
      const app = fastify();
      const route = forFastify(verifier, OPTIONS, async (_request, _reply, proven) => {
        await ran(proven?.proof, proven?.body);
        return {};
      });
      for (const path of PATHS) app.post(path, route);
      await app.listen({ port: 0, host: '127.0.0.1' });
      return overTcp((app.server.address() as AddressInfo).port, () => app.close());
    },
  },
  {
    name: 'Koa',
    guardWith: (verifier, options) => forKoa(verifier, options, () => undefined),
    start: (verifier, ran) => {
      const app = new Koa({ asyncLocalStorage: false });
      app.silent = true;
      app.use(
        forKoa(verifier, OPTIONS, async (ctx, proven) => {
          await ran(proven?.proof, proven?.body);
          ctx.body = '{}';
        }),
      );
      return mount(app.callback());
    },
  },
  {
    name: 'Fetch',
    guardWith: (verifier, options) => forFetch(verifier, options, () => new Response()),
    start: async (verifier, ran) =>
      overRequest(
        forFetch(verifier, OPTIONS, async (_request, proven) => {
          await ran(proven?.proof, proven?.body);
          return new Response('{}');
        }),
      ),
  },
  {
    name: 'Hono',
    guardWith: (verifier, options) => forHono(verifier, options, () => new Response()),
    start: async (verifier, ran) => {
      const app = new Hono();
      app.on(
        'POST',
        PATHS,
        forHono(verifier, OPTIONS, async (c, proven) => {
          await ran(proven?.proof, proven?.body);
          return c.json({});
        }),
      );
      return overRequest((request) => app.fetch(request));
    },
  },
];

function expressHandler(verifier: Verifier, ran: Ran) {
  return forExpress(verifier, OPTIONS, async (_req, res, proven) => {
    await ran(proven?.proof, proven?.body);
    res.json({});
  });
}

/** With an error handler that wrongly continues. This must not let a request through. */
function behindMiddleware(app: express.Express, verifier: Verifier, ran: Ran): express.Express {
  app.post(PATHS, forExpress(verifier, OPTIONS), async (req, res) => {
    const { proof, body } = provenOf(req);
    await ran(proof, body);
    res.json({});
  });
  app.use(((_error, _req, _res, next) => next()) satisfies express.ErrorRequestHandler);
  return app;
}

function quiet(app: express.Express): express.Express {
  return app.set('env', 'test');
}

async function mount(listener: RequestListener): Promise<GuardedDaemon> {
  const served = await serve(createServer(listener));
  return overTcp(served.port, () => served[Symbol.asyncDispose]());
}

/** Uses one connection per request, because an aborted request closes its connection. */
export function overTcp(port: number, stop: () => unknown): GuardedDaemon {
  return {
    port,
    async send({ method = 'POST', target = PATH, headers, body, cutAfter, resets = false }) {
      if (cutAfter === undefined) {
        const request = { method, target, headers: [['host', 'daemon'] as const, ...headers] };
        const url = new URL(`http://127.0.0.1:${port}`);
        const answer = await send(url, { ...request, body: Buffer.from(body) });
        return { status: answer.status, code: /"code":"(\w+)"/.exec(answer.body)?.[1] };
      }
      const lines = [
        ['host', 'daemon'],
        ['connection', 'close'],
        ['content-length', `${body.length}`],
        ...headers,
      ];
      const head = `${method} ${target} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`;
      const socket = connect(port, '127.0.0.1');
      const failed = new Promise<void>((resolve) => socket.once('error', () => resolve()));
      socket.write(head + body.slice(0, cutAfter), 'latin1');
      // Disconnects right after writing: the server may or may not have started on the request.
      const isWritten = new Promise<void>((resolve) => {
        if (resets) socket.write('', () => resolve());
        else socket.end(() => resolve());
      });
      await Promise.race([isWritten, failed]);
      if (resets) socket.resetAndDestroy();
      else socket.destroy();
      return { status: undefined, code: undefined };
    },
    stop: async () => void (await stop()),
  };
}

function overRequest(handle: (request: Request) => Response | Promise<Response>): GuardedDaemon {
  return {
    async send({ method = 'POST', target = PATH, headers, body, cutAfter }) {
      const stream = new ReadableStream({
        pull(controller) {
          if (cutAfter === undefined) {
            controller.enqueue(new TextEncoder().encode(body));
            controller.close();
          } else {
            controller.enqueue(new TextEncoder().encode(body.slice(0, cutAfter)));
            controller.error(new Error('the client is gone'));
          }
        },
      });
      const sent = {
        method,
        headers: headers.map(([name, value]) => [name, value] as [string, string]),
        ...(method === 'GET' ? {} : { body: stream, duplex: 'half' }),
      };
      const response = await handle(new Request(`http://daemon${target}`, sent as RequestInit));
      return { status: response.status, code: /"code":"(\w+)"/.exec(await response.text())?.[1] };
    },
    stop: async () => undefined,
  };
}
