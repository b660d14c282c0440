import createClient from 'openapi-fetch';
import type { paths } from './dist/api.d.ts';

/** A client program that uses the generated types; compiled with its own compiler, then run. */

const [baseUrl = '', apiKey = '', managementKey = '', accessToken = ''] = process.argv.slice(2);

const clientFor = (credential: string) =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${credential}` } });
const [interns, management, person] = [apiKey, managementKey, accessToken].map(clientFor) as [
  ReturnType<typeof clientFor>,
  ReturnType<typeof clientFor>,
  ReturnType<typeof clientFor>,
];

const listed = await interns.GET('/interns', {
  params: { query: { limit: 50, status: 'running,failed,provisioning' } },
});
const ids = listed.data?.data.map(({ id }) => id) ?? [];

const proofs: Record<string, string | undefined> = {};
for (const internId of ids) {
  const signed = await person.POST('/interns/{internId}/daemon/sign', {
    params: { path: { internId } },
    body: { bodySha256: '0'.repeat(64), route: { method: 'POST', path: '/api/invoke' } },
  });
  proofs[internId] = signed.data?.['x-ori-invoke-signature-v2'] ?? signed.error?.error.message;
}

const created = await management.POST('/guardrails', {
  body: { name: 'from a generated client', limit_usd: 0, reset_interval: 'daily' },
});
const id = created.data?.data.id ?? '';
const changed = await management.PATCH('/guardrails/{id}', {
  params: { path: { id } },
  body: { limit_usd: null },
});
const refused = await management.PATCH('/guardrails/{id}', {
  params: { path: { id } },
  // @ts-expect-error an interval that the document does not list
  body: { reset_interval: 'hourly' },
});
const deleted = await management.DELETE('/guardrails/{id}', { params: { path: { id } } });
const credentials = await management.GET('/byok', { params: { query: { provider: 'openai' } } });
// @ts-expect-error a path that the document does not have
const unknown = await management.GET('/interns/{internId}/vault', {});

process.stdout.write(
  JSON.stringify({
    interns: listed.data?.data.map(({ name, status }) => `${name} ${status}`).sort(),
    proofs,
    limits: [created.data?.data.limit_usd, changed.data?.data.limit_usd],
    refused: refused.error?.error,
    deleted: deleted.data,
    credentials: credentials.data?.total_count,
    unknown: unknown.response.status,
  }),
);
