import { createGuardrail, listInterns } from './client/index';

const { ORI_API_KEY: apiKey, ORI_MANAGEMENT_KEY: managementKey } = process.env;
const of = (key?: string) => ({ headers: { Authorization: `Bearer ${key}` } });
const run = async () => {
  const interns = await listInterns(undefined, of(apiKey));
  if (interns.status === 200) console.log('lists', interns.data.data.map(({ name }) => name).join());
  const wanted = { name: 'made', limit_usd: 5, reset_interval: 'daily' as const };
  const made = await createGuardrail(wanted, of(managementKey));
  if (made.status !== 201) throw new Error(JSON.stringify(made));
  const { name, reset_interval, description } = made.data.data;
  console.log('creates', name, reset_interval, description);
};
void run();
