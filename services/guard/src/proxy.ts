import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Exchange, exchangeOf } from '@ori/http/exchange';
import type { Verifier } from '@ori/verifier';
import type { GuardConfig } from './config.ts';
import { type Daemon, DaemonError, type DaemonFailure } from './daemon.ts';
import { headersForDaemon, namesOthers } from './headers.ts';
import { type Head, prove, reported } from './prove.ts';
import { type Answer, answer, refuse, send } from './refuse.ts';
import { createSpool } from './spool.ts';

/** The routes in logs and metrics: never the path. */
export const PROXY_ROUTES = { proven: '{proven}', open: '{open}' } as const;

const NAMES_OTHERS: Answer = {
  status: 400,
  code: 'connection_header',
  message: 'Connection may only name close, keep-alive, te, trailer and upgrade.',
};
/** Python's `http.server` and Flask's server serve `//a` as `/a`, which was not signed. */
const AMBIGUOUS_PATH: Answer = {
  status: 400,
  code: 'path_ambiguous',
  message: 'The path begins with //, which a daemon may interpret as another path.',
};
const SPENT = 'The proof is spent.';
/** They follow the spend, so each says whether the call may have been executed. */
const FAILURES: Readonly<Record<DaemonFailure, Answer>> = {
  connect: {
    status: 502,
    code: 'daemon_unreachable',
    message: `The daemon cannot be reached, so the call was not carried out. ${SPENT} Sign again.`,
  },
  broken: {
    status: 502,
    code: 'daemon_failed',
    message: `The daemon gave no valid answer. ${SPENT} The call may have been carried out.`,
  },
  time: {
    status: 504,
    code: 'daemon_timeout',
    message: `The daemon did not answer in time. ${SPENT} The call may have been carried out.`,
  },
};
const OPEN_FAILURES: Readonly<Record<DaemonFailure, Answer>> = {
  connect: { ...FAILURES.connect, message: 'The daemon cannot be reached.' },
  broken: { ...FAILURES.broken, message: 'The daemon gave no valid answer.' },
  time: { ...FAILURES.time, message: 'The daemon did not answer in time.' },
};

export interface ProxyParts {
  readonly config: GuardConfig;
  readonly verifier: Verifier;
  readonly daemon: Daemon;
  readonly onFailure: (failure: DaemonFailure) => void;
}

/** Passes on requests with a proof, and `GET` and `HEAD` of the open paths. Each body is verified before its first byte is forwarded. */
export function createProxy({ config, verifier, daemon, onFailure }: ProxyParts): RequestListener {
  const openPaths = new Set(config.openPaths);
  const isOpen = ({ method, url = '', headers }: IncomingMessage): boolean =>
    (method === 'GET' || method === 'HEAD') &&
    openPaths.has(url) &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) === 0;

  function settingsFor({ requestId, client }: Exchange) {
    return { requestId, client: client.address, trustGateway: config.trustGateway };
  }

  async function passOpen(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const exchange = exchangeOf(req);
    exchange.route = PROXY_ROUTES.open;
    exchange.deadline.clear();
    const passed = { proof: undefined, bodyBytes: undefined, ...settingsFor(exchange) };
    const headers = headersForDaemon(req.rawHeaders, passed);
    const { method = '', url: path = '' } = req;
    await call({ method, path, headers, body: undefined }, { req, res, failures: OPEN_FAILURES });
  }

  async function passProven(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const exchange = exchangeOf(req);
    exchange.route = PROXY_ROUTES.proven;
    const head: Head = { method: req.method, target: req.url, rawHeaders: req.rawHeaders };
    const { bodyBytesMax } = config;
    const spool = createSpool(req, config.spoolFolder);
    try {
      let body: Awaited<ReturnType<typeof spool.body>> | undefined;
      const proof = await prove(req, head, {
        verifier,
        bodyBytesMax,
        take: spool.push,
        settle: async () => {
          body = await spool.body();
        },
      });
      const asked = verifier.answers?.ask(proof)?.catch((error) => {
        throw reported(verifier, head, error);
      });
      if (asked !== undefined) return send(res, await asked);
      // If the deadline passed during the spend, the client already has its answer, and the call is not sent.
      if (res.headersSent) return void verifier.answers?.record(proof).lose();
      verifier.answers?.recordNode(res, proof);
      exchange.deadline.clear();
      const passed = { proof, bodyBytes: spool.length, ...settingsFor(exchange) };
      const headers = headersForDaemon(req.rawHeaders, passed);
      const { method = '', url: path = '' } = req;
      await call({ method, path, headers, body }, { req, res, failures: FAILURES });
    } catch (error) {
      refuse(req, res, error);
    } finally {
      await spool.close();
    }
  }

  async function call(
    request: Parameters<Daemon['call']>[0],
    { req, res, failures }: { req: IncomingMessage; res: ServerResponse; failures: typeof FAILURES },
  ): Promise<void> {
    try {
      await daemon.call(request, res);
    } catch (error) {
      exchangeOf(req).error = error;
      const failure = error instanceof DaemonError ? error.failure : 'broken';
      onFailure(failure);
      // The client must be able to tell that the answer is truncated.
      if (res.headersSent) res.destroy();
      else answer(res, failures[failure]);
    }
  }

  return (req, res) => {
    if (namesOthers(req.headers.connection)) answer(res, NAMES_OTHERS);
    else if (req.url?.startsWith('//')) answer(res, AMBIGUOUS_PATH);
    else void (isOpen(req) ? passOpen(req, res) : passProven(req, res));
  };
}
