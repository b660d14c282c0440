import type { IncomingMessage, RequestListener } from 'node:http';
import type { Limits } from '@ori/runtime/limits';
import type { Logger } from '@ori/runtime/log';
import type { Budget, Metrics } from '@ori/runtime/metrics';
import type { Presentation } from '../ground/presentation.ts';
import type { ListenerFiles } from '../ground/tls.ts';
import type { Sinks } from '../observe/request-line.ts';

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
