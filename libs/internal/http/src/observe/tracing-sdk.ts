import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Traceparent } from './traceparent.ts';

export interface SpanSourceOptions {
  /** The collector's address for traces. */
  readonly url: string;
  readonly resource: Attributes;
  /** Called with the number of spans that did not reach the collector. */
  onLost(spans: number, error: unknown): void;
}

/** Makes and exports spans. Loaded only if an OTLP endpoint is configured. */
export interface SpanSource {
  startServer(parent: Traceparent | undefined): Span;
  startClient(name: string, parent: Span, attributes: Attributes): Span;
  end(span: Span, facts: { readonly attributes: Attributes; readonly isError: boolean }): void;
  /** Exports the remaining spans. Rejects if the collector does not accept them. */
  close(): Promise<void>;
}

/** Spans waiting for the collector; more are dropped, so that a slow collector cannot exhaust memory. */
const QUEUED_MAX = 2048;
const BATCH_MAX = 256;
const BATCH_DELAY_MS = 1000;
/** For one batch, retries included. */
const EXPORT_TIMEOUT_MS = 5000;

/** Sets up the official SDK without its globals, so that nothing else in the process is traced. */
export function createSpanSource(options: SpanSourceOptions): SpanSource {
  const exporter = new OTLPTraceExporter({ url: options.url, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(options.resource)),
    // Not ParentBased: callers must not decide what is exported.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(exporter, options.onLost),
        maxQueueSize: QUEUED_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: BATCH_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('ori');
  return {
    startServer(parent) {
      // Not `tracestate`: it is text chosen by the caller.
      const context = parent && {
        traceId: parent.traceId,
        spanId: parent.parentId,
        traceFlags: Number.parseInt(parent.flags, 16),
        isRemote: true,
      };
      return tracer.startSpan(
        'request',
        { kind: SpanKind.SERVER },
        context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT,
      );
    },
    startClient: (name, parent, attributes) =>
      tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, parent)),
    end(span, { attributes, isError }) {
      span.setAttributes(attributes);
      if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    close: () => provider.shutdown(),
  };
}

function reporting(exporter: SpanExporter, onLost: SpanSourceOptions['onLost']): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // ExportResultCode.SUCCESS is 0.
        if (result.code !== 0) onLost(spans.length, result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
