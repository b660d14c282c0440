import createClient from 'openapi-fetch';
import type { paths } from './client/index';

const { ORI_BASE_URL: baseUrl, ORI_API_KEY: apiKey, ORI_MANAGEMENT_KEY: managementKey } = process.env;
const of = (key?: string) =>
  createClient<paths>({ baseUrl: baseUrl ?? '', headers: { Authorization: `Bearer ${key}` } });
const run = async () => {
  const interns = await of(apiKey).GET('/interns');
  console.log('lists', interns.data?.data.map(({ name }) => name).join());
  const body = { name: 'made', limit_usd: 5, reset_interval: 'daily' as const };
  const { data: made } = await of(managementKey).POST('/guardrails', { body });
  console.log('creates', made?.data.name, made?.data.reset_interval, made?.data.description);
};
void run();
