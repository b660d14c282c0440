import { strict as assert } from 'node:assert';
import type { IncomingHttpHeaders } from 'node:http';
import { SIGNER_OPERATIONS } from '@ori/api/operations';
import { createReference } from '@ori/management/reference';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The parts of a request and its response that the document describes. */
export interface Exchanged {
  readonly method: string;
  /** The raw request-target. */
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface ResponseObject {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, Example>> }>>;
}

interface Example {
  readonly value?: { readonly error: { readonly metadata?: { readonly reason: string } } };
}

interface OperationObject {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface DocumentedOperation {
  readonly service: 'signer' | 'management';
  readonly method: string;
  readonly template: string;
  readonly pointer: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

const BASE_PATH = '/v1';
const { document } = createReference(`http://127.0.0.1${BASE_PATH}`);
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
// Every time is in UTC and has milliseconds.
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
ajv.addSchema(document, 'api');
const validators = new Map<string, ValidateFunction>();

const signers = new Set(SIGNER_OPERATIONS.map(({ operationId }) => operationId));

/** Every operation of the document, with its whole path. */
const DOCUMENTED: readonly DocumentedOperation[] = Object.entries(document.paths ?? {}).flatMap(
  ([path, item]) =>
    Object.entries(item as Record<string, OperationObject>).map(([method, operation]) => ({
      service: signers.has(operation.operationId) ? 'signer' : 'management',
      method: method.toUpperCase(),
      template: BASE_PATH + path,
      pointer: `#/paths/${encodeSegment(path)}/${method}`,
      responses: operation.responses,
    })),
);

/**
 * Requires that the document describes this response: its status for this method and path, the required headers, its
 * media type and body, and for a refusal the reason. `default` does not count, because it is for gateways.
 *
 * @param service the service that responded; it has none of the other's paths
 * @throws AssertionError
 */
export function requireDocumented(exchanged: Exchanged, service: DocumentedOperation['service']): void {
  const { method, path, status } = exchanged;
  const what = `${method} ${path} ${status}`;
  const [target = ''] = path.split('?', 1);
  if (target === `/.well-known/oauth-protected-resource${BASE_PATH}`) return;
  if ([`${BASE_PATH}/docs`, `${BASE_PATH}/docs.js`].includes(target)) return;
  const ofPath = DOCUMENTED.filter((one) => one.service === service && matches(one.template, target));
  const operation = ofPath.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (ofPath.length === 0) requireNoPath(exchanged, what);
  else if (operation === undefined || (method === 'HEAD' && status === 405)) {
    requireNoMethod(exchanged, ofPath, what);
  } else requireAnswer(exchanged, operation, what);
}

/** 400 if the target is not a path. */
function requireNoPath({ status, text }: Exchanged, what: string): void {
  assert.ok(status === 404 || status === 400, `${what}: an unknown path is 404`);
  requireValid('#/components/schemas/Error', JSON.parse(text), what);
}

function requireNoMethod(
  { method, status, headers, text }: Exchanged,
  ofPath: readonly DocumentedOperation[],
  what: string,
): void {
  assert.equal(status, 405, `${what}: the document has no such method`);
  const allowed = (headers.allow ?? '').split(', ').filter((name) => name !== 'HEAD');
  assert.deepEqual(new Set(allowed), new Set(ofPath.map((one) => one.method)), `${what}: Allow`);
  if (method !== 'HEAD') requireValid('#/components/schemas/Error', JSON.parse(text), what);
}

function requireAnswer(
  { method, status, headers, text }: Exchanged,
  { pointer: ofOperation, responses }: DocumentedOperation,
  what: string,
): void {
  const response = responses[status];
  assert.ok(response, `${what}: the document lists ${Object.keys(responses).join(', ')}`);
  const pointer = `${ofOperation}/responses/${status}`;
  requireHeaders(response, pointer, headers, what);
  if (method === 'HEAD' || response.content === undefined) {
    assert.equal(text, '', `${what}: no body`);
    return;
  }
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  const content = response.content[mediaType];
  assert.ok(content, `${what}: ${mediaType} is not among ${Object.keys(response.content).join(', ')}`);
  if (mediaType !== 'application/json') return;
  requireValid(`${pointer}/content/application~1json/schema`, JSON.parse(text), what);
  if (status >= 400) requireReason(content.examples ?? {}, status, text, what);
}

function requireHeaders(
  response: ResponseObject,
  pointer: string,
  headers: IncomingHttpHeaders,
  what: string,
): void {
  // The document does not require it, because clients of ogen have one type for all refusals.
  const challenge = headers['www-authenticate'];
  if (pointer.endsWith('/401')) assert.ok(challenge !== undefined, `${what}: without a challenge`);
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    const shared = header.$ref !== undefined;
    const value = headers[name.toLowerCase()];
    if (value === undefined) {
      assert.ok(!shared && header.required !== true, `${what}: without ${name}`);
      continue;
    }
    const at = shared ? (header.$ref ?? '') : `${pointer}/headers/${encodeSegment(name)}`;
    requireValid(`${at}/schema`, value, `${what}: ${name}`);
  }
}

/** The document has one example for each reason of a refusal. */
function requireReason(
  examples: Readonly<Record<string, Example>>,
  status: number,
  text: string,
  what: string,
): void {
  const { error } = JSON.parse(text) as { error: { code: number; metadata?: { reason: string } } };
  assert.equal(error.code, status, `${what}: error.code`);
  const reasons = Object.values(examples).map(({ value }) => value?.error.metadata?.reason);
  assert.ok(reasons.includes(error.metadata?.reason), `${what}: ${error.metadata?.reason} not in ${reasons}`);
}

function requireValid(pointer: string, value: unknown, what: string): void {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `api${pointer}` });
  validators.set(pointer, validate);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
}

/** A segment of a JSON pointer in a URI fragment (RFC 6901, section 6). */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Whether a raw path is of a template, each parameter of which is one segment. */
function matches(template: string, path: string): boolean {
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path);
}
