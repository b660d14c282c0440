import { parseTraceparent, type Traceparent } from '@ori/http/traceparent';
import { newTraceparent } from '../adapters/trace.ts';
import { type Context, variable } from './context.ts';

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
