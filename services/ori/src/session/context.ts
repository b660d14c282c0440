import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { parseTraceparent, type Traceparent } from '@ori/http/traceparent';
import { newTraceparent } from '../adapters/trace.ts';
import { CliError } from '../core/errors.ts';
import type { OutputStream, Terminal } from '../text/terminal.ts';

/** The environment of a command. Only main.ts creates it from the real process. */
export interface HostEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal;
  readonly nowSeconds: () => number;
}

export interface GlobalOptions {
  readonly baseUrl?: string;
  readonly profile?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

export interface Context extends HostEnvironment {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly baseUrlOption: string | undefined;
  readonly profileOption: string | undefined;
}

/** What a part of a command needs that only tells, and can be interrupted. */
export type Surroundings = Pick<Context, 'terminal' | 'interrupted'>;

/** Waits for the interruption. @throws CliError `interrupted` */
export async function untilInterrupted({ interrupted }: Surroundings): Promise<never> {
  if (!interrupted.aborted) await once(interrupted, 'abort');
  throw new CliError('interrupted', {});
}

/** An environment variable; an empty one counts as unset. */
export function variable({ environment }: HostEnvironment, name: string): string | undefined {
  return environment[name] || undefined;
}

/**
 * The trace that the signing request and the call belong to: the given one, else that of `TRACEPARENT`, which CI tools
 * set, else a new one. An invalid value counts as absent.
 *
 * @param given the value of `-H 'traceparent: …'`
 */
export function takeTrace(context: Context, given?: string): Traceparent {
  const trace =
    parseTraceparent(given) ?? parseTraceparent(variable(context, 'TRACEPARENT')) ?? newTraceparent();
  context.terminal.detail(`Trace ${trace.traceId}`);
  return trace;
}
