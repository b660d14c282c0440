import { isBodySha256, isPath } from '@ori/proof';
import { describe, expect, it } from 'vitest';
import { useManagementWorld } from './world.ts';

const world = await useManagementWorld();

const get = () => world.call({ path: '/openapi.json', bearer: null });

/** The interface's operations, with the statuses that its tables list besides success. */
const INTERFACE: readonly [string, string, string, number, readonly number[]][] = [
  [
    'signDaemonRequest',
    'post',
    '/interns/{internId}/daemon/sign',
    200,
    [400, 401, 403, 404, 408, 413, 415, 429, 500],
  ],
  ['getDaemonKeys', 'get', '/interns/{internId}/daemon/jwks.json', 200, []],
  ['listInterns', 'get', '/interns', 200, [400, 401, 403, 404, 408, 500]],
  ['getInternIcon', 'get', '/interns/{internId}/icon', 200, [401, 403, 404, 408, 500]],
  ['listByokCredentials', 'get', '/byok', 200, [400, 401, 500]],
  ['updateByokCredential', 'patch', '/byok/{id}', 200, [400, 401, 403, 404, 409, 500]],
  ['getIntern', 'get', '/interns/{internId}', 200, [401, 403, 404, 408, 500]],
  ['createByokCredential', 'post', '/byok', 201, [400, 401, 403, 500]],
  ['getByokCredential', 'get', '/byok/{id}', 200, [401, 404, 500]],
  ['deleteByokCredential', 'delete', '/byok/{id}', 200, [401, 404, 500]],
  ['listApiKeys', 'get', '/keys', 200, [400, 401, 500]],
  ['createApiKey', 'post', '/keys', 201, [400, 401, 403, 500]],
  ['getApiKey', 'get', '/keys/{hash}', 200, [401, 404, 500]],
  ['updateApiKey', 'patch', '/keys/{hash}', 200, [400, 401, 404, 500]],
  ['deleteApiKey', 'delete', '/keys/{hash}', 200, [401, 404, 500]],
  ['getCurrentKey', 'get', '/key', 200, [401, 500]],
  ['listWorkspaces', 'get', '/workspaces', 200, [401, 500]],
  ['createWorkspace', 'post', '/workspaces', 201, [400, 401, 403, 500]],
  ['getWorkspace', 'get', '/workspaces/{id}', 200, [401, 404, 500]],
  ['updateWorkspace', 'patch', '/workspaces/{id}', 200, [400, 401, 403, 404, 500]],
  ['deleteWorkspace', 'delete', '/workspaces/{id}', 200, [400, 401, 403, 404, 500]],
  ['listWorkspaceMembers', 'get', '/workspaces/{id}/members', 200, [401, 403, 404, 500]],
  ['bulkAddWorkspaceMembers', 'post', '/workspaces/{id}/members/add', 200, [400, 401, 403, 404, 500]],
  ['bulkRemoveWorkspaceMembers', 'post', '/workspaces/{id}/members/remove', 200, [400, 401, 403, 404, 500]],
  ['listOrganizationMembers', 'get', '/organization/members', 200, [401, 500]],
  ['listGuardrails', 'get', '/guardrails', 200, [401, 500]],
  ['createGuardrail', 'post', '/guardrails', 201, [400, 401, 403, 500]],
  ['getGuardrail', 'get', '/guardrails/{id}', 200, [401, 404, 500]],
  ['updateGuardrail', 'patch', '/guardrails/{id}', 200, [400, 401, 404, 500]],
  ['deleteGuardrail', 'delete', '/guardrails/{id}', 200, [401, 404, 500]],
  ['listGuardrailKeyAssignments', 'get', '/guardrails/{id}/assignments/keys', 200, [401, 404, 500]],
  ['bulkAssignKeys', 'post', '/guardrails/{id}/assignments/keys', 200, [400, 401, 404, 500]],
  ['bulkUnassignKeys', 'post', '/guardrails/{id}/assignments/keys/remove', 200, [400, 401, 404, 500]],
  ['listGuardrailMemberAssignments', 'get', '/guardrails/{id}/assignments/members', 200, [401, 404, 500]],
  ['bulkAssignMembers', 'post', '/guardrails/{id}/assignments/members', 200, [400, 401, 404, 500]],
  ['bulkUnassignMembers', 'post', '/guardrails/{id}/assignments/members/remove', 200, [400, 401, 404, 500]],
  ['listKeyAssignments', 'get', '/guardrails/assignments/keys', 200, [401, 500]],
  ['listMemberAssignments', 'get', '/guardrails/assignments/members', 200, [401, 500]],
];

describe('GET /openapi.json', () => {
  it('is an OpenAPI 3.1 document for the configured base address', async () => {
    const { json } = await get();
    expect(json.openapi).toMatch(/^3\.1\.\d$/);
    expect(json.servers).toEqual([{ url: world.baseUrl }]);
    expect(json.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('answers HEAD with only the headers', async () => {
    const { text } = await get();
    const head = await world.call({ method: 'HEAD', path: '/openapi.json', bearer: null });
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(text)));
  });

  it.each(INTERFACE)('describes %s: %s %s', async (operationId, method, path, success, refusals) => {
    const operation = (await get()).json.paths[path][method];
    expect(operation.operationId).toBe(operationId);
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([success, ...refusals].map(String)),
    );
  });

  it('describes nothing else except itself, all of it below the base address', async () => {
    const { json } = await get();
    const all = Object.entries(json.paths).flatMap(([path, item]) =>
      Object.keys(item as object).map((method) => `${method} ${path}`),
    );
    expect(all.sort()).toEqual(
      [...INTERFACE.map(([, method, path]) => `${method} ${path}`), 'get /openapi.json'].sort(),
    );
    // Generators of clients ignore the servers of a single path or operation.
    for (const item of Object.values<object>(json.paths)) {
      for (const part of [item, ...Object.values(item)]) expect(part).not.toHaveProperty('servers');
    }
  });

  it('has metadata only on the errors of intern operations, as the interface requires', async () => {
    const { paths } = (await get()).json;
    const contentOf = (path: string, method: string, status: number) =>
      paths[path][method].responses[status].content['application/json'];
    for (const [, method, path, , refusals] of INTERFACE) {
      for (const status of refusals) {
        const isIntern = path.startsWith('/interns');
        const isSigning = path.endsWith('/sign');
        const plain = !isIntern || status === 401 || (status === 403 && !isSigning);
        const { schema, examples } = contentOf(path, method, status);
        expect(schema.$ref).toBe('#/components/schemas/Error');
        for (const { value } of Object.values<{ value: { error: object } }>(examples))
          expect([path, status, 'metadata' in value.error]).toEqual([path, status, !plain]);
      }
    }
  });

  it('names every reason of the signing table', async () => {
    const { responses } = (await get()).json.paths['/interns/{internId}/daemon/sign'].post;
    const reasons = Object.entries(responses).flatMap(([status, response]) => {
      const { examples = {} } =
        (response as { content: Record<string, { examples?: object }> }).content['application/json'] ?? {};
      return Object.values(examples).map(
        ({ value: { error } }) => `${status} ${error.metadata?.reason} ${error.metadata?.retryable}`,
      );
    });
    expect(reasons.sort()).toEqual([
      '400 invalid_body false',
      ...Array(8).fill('401 undefined undefined'),
      '403 access_revoked false',
      '403 dpop_required false',
      '403 insufficient_scope false',
      '403 personal_identity_required false',
      '403 regional_host_refused false',
      '404 not_found false',
      '408 timeout true',
      '413 payload_too_large false',
      '415 unsupported_media_type false',
      '429 rate_limited true',
      '500 configuration_error false',
      '500 internal_error true',
    ]);
  });

  it('requires a credential except for public operations', async () => {
    const { json } = await get();
    expect(json.security).toEqual([{ bearer: [] }]);
    const open = Object.entries<Record<string, { security?: unknown[] }>>(json.paths).flatMap(
      ([path, item]) => Object.values(item).flatMap(({ security }) => (security?.length === 0 ? [path] : [])),
    );
    expect(open).toEqual(['/interns/{internId}/daemon/jwks.json', '/openapi.json']);
    expect(json.paths['/interns/{internId}/daemon/sign'].post.security).toEqual([
      { bearer: ['vault:read'] },
      { dpop: ['vault:read'] },
    ]);
  });

  it('marks enforce_zdr as deprecated', async () => {
    const { schemas } = (await get()).json.components;
    for (const name of ['Guardrail', 'GuardrailCreate', 'GuardrailUpdate']) {
      expect(schemas[name].properties.enforce_zdr).toMatchObject({ deprecated: true });
      expect(schemas[name].properties.enforce_zdr_other).not.toHaveProperty('deprecated');
    }
  });

  it('describes the fields of a signing request with the alphabets that the signer enforces', async () => {
    const { properties } = (await get()).json.components.schemas.SigningRequest;
    const bodySha256 = new RegExp(properties.bodySha256.pattern);
    const path = new RegExp(properties.route.properties.path.pattern);
    const { maxLength } = properties.route.properties.path;
    const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
    for (const character of characters) {
      for (const text of [character, `/${character}`, `/a${character}`, `/${character}a`]) {
        expect([text, path.test(text)]).toEqual([text, isPath(text)]);
      }
      const digest = character.repeat(64);
      expect([digest, bodySha256.test(digest)]).toEqual([digest, isBodySha256(digest)]);
    }
    for (const length of [2047, 2048, 2049]) {
      const text = `/${'a'.repeat(length - 1)}`;
      expect(path.test(text) && text.length <= maxLength).toBe(isPath(text));
    }
    for (const length of [63, 65]) expect(bodySha256.test('a'.repeat(length))).toBe(false);
  });
});
