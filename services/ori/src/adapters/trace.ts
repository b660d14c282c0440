import { randomUUID } from 'node:crypto';
import type { Traceparent } from '@ori/http/traceparent';

/** Starts a trace, with the flags `sampled` and `random-trace-id` (level 2): the last 7 bytes of the trace id are random. */
export function newTraceparent(): Traceparent {
  return { traceId: drawHex(), parentId: drawHex().slice(16), flags: '03' };
}

/** 32 hex digits of a UUID, which Node draws in advance: `randomBytes` takes ten times as long. */
const drawHex = () => randomUUID().replaceAll('-', '');

/** The header of version 00. */
export function renderTraceparent({ traceId, parentId, flags }: Traceparent): string {
  return `00-${traceId}-${parentId}-${flags}`;
}
