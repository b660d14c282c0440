import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Operation } from './operation.ts';

/** Whether an operation answers with one record, in `data`. */
export function answersRecord(operation: Operation): boolean {
  if (!('result' in operation) || !(operation.result instanceof z.ZodObject)) return false;
  return operation.result.shape['data'] instanceof z.ZodObject;
}

/** The strong entity tag of a record as it is shown, whatever the order of its fields. */
export function tagOf(answer: object): string {
  const { data = {} } = answer as { readonly data?: object };
  const fields = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
  return `"${createHash('sha256').update(JSON.stringify(fields)).digest('base64url')}"`;
}

/** If-Match (RFC 9110, section 13.1.1): strong comparison with each entity tag, or `*`. */
export function isStrongMatch(ifMatch: string, tag: string): boolean {
  return ifMatch.split(',').some((one) => one.trim() === '*' || one.trim() === tag);
}
