import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { serve } from './serve.ts';

/** A span as received, with its attributes by name. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 2 is a server span, 3 a client span. */
  readonly kind: number;
  readonly milliseconds: number;
  /** 2 is an error. */
  readonly status: number | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An OpenTelemetry collector that accepts only traces: OTLP over HTTP, in JSON. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** The bodies of all requests. */
  readonly bodies: string[];
  /** `good`, `silent` (never answers) or a status to answer with. */
  behaviour: 'good' | 'silent' | number;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly status?: { readonly code?: number };
        readonly attributes: readonly OtlpAttribute[];
      }[];
    }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer(async (req, res) => {
    const body = await text(req).catch(() => undefined);
    if (body === undefined) return;
    receiver.bodies.push(body);
    if (receiver.behaviour === 'silent') return;
    if (receiver.behaviour !== 'good') return void res.writeHead(receiver.behaviour).end();
    if (req.url !== '/v1/traces' || req.headers['content-type'] !== 'application/json')
      return void res.writeHead(404).end();
    receiver.spans.push(...spansOf(JSON.parse(body)));
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const served = await serve(server);
  const receiver: OtlpReceiver = { ...served, spans: [], bodies: [], behaviour: 'good' };
  return receiver;
}

/** The spans of a request to a collector, or of a line that one exports. */
export function spansOf({ resourceSpans }: OtlpTraces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, kind, status, ...span }) => ({
        service,
        traceId,
        spanId,
        parentSpanId: parentSpanId || undefined,
        name,
        kind,
        status: status?.code,
        milliseconds: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        attributes: attributesOf(span.attributes),
      })),
    );
  });
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]),
  );
}
