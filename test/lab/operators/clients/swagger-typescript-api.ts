import { Api } from './client/index';

const { ORI_BASE_URL: baseUrl, ORI_API_KEY: apiKey, ORI_MANAGEMENT_KEY: managementKey } = process.env;
const of = (key?: string) =>
  new Api({ baseUrl, baseApiParams: { headers: { Authorization: `Bearer ${key}` } } });
const run = async () => {
  const interns = await of(apiKey).interns.listInterns();
  console.log('lists', interns.data.data.map(({ name }) => name).join());
  const wanted = { name: 'made', limit_usd: 5, reset_interval: 'daily' as const };
  const { data: made } = await of(managementKey).guardrails.createGuardrail(wanted);
  console.log('creates', made.data.name, made.data.reset_interval, made.data.description);
};
void run();
