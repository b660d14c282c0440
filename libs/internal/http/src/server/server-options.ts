import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Limits } from '@ori/runtime/limits';
import type { Logger } from '@ori/runtime/log';
import type { Budget, Metrics } from '@ori/runtime/metrics';
import type { GracefulStop } from './graceful-stop.ts';
import type { Presentation } from './presentation.ts';
import type { Sinks } from './request-line.ts';
import type { ListenerFiles } from './tls.ts';

export interface ApiServerOptions {
  /** An Express application, or any request listener. */
  app: RequestListener;
  host: string;
  port: number;
  deadlineMs: number;
  /** Default: plain HTTP. */
  tls?: ListenerFiles;
  /** Limits on concurrent work. Default: `LIMITS`. */
  limits?: Partial<Limits>;
  /** The answer to a request beyond these limits. Default: 500, retryable. */
  presentBusy?: (req: IncomingMessage, budget: Budget) => Presentation;
  /**
   * Whether to trust `X-Request-Id`, `X-Forwarded-For` and `X-Forwarded-Host`: only behind a gateway that sets them.
   */
  trustGateway?: boolean;
  log?: Logger;
  metrics?: Metrics;
  /** Records each request instead, for a server in front of several services. */
  sinksOf?: (req: IncomingMessage) => Sinks;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Refuses new connections, closes idle ones, and ends busy ones after their answer. */
  withdraw(): Promise<void>;
  /** Accepts connections again, on the same port. */
  offer(): Promise<void>;
  /**
   * Stops accepting, finishes requests in progress (their answers have `Connection: close`), closes idle connections,
   * and cuts the remaining ones after `graceMs`. A gateway may send a request on an idle connection before it learns
   * that the connection is closed: with `idleGraceMs`, idle connections stay open that long and such a request is
   * answered.
   */
  stop(grace: GracefulStop): Promise<void>;
}
