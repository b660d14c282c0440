import { createClient } from './client/client';
import { createGuardrail, listInterns } from './client/index';

const { ORI_BASE_URL: baseUrl, ORI_API_KEY: apiKey, ORI_MANAGEMENT_KEY: managementKey } = process.env;
const of = (auth?: string) => createClient({ baseUrl, auth, throwOnError: true });
const run = async () => {
  const interns = await listInterns({ client: of(apiKey) });
  console.log('lists', interns.data?.data.map(({ name }) => name).join());
  const body = { name: 'made', limit_usd: 5, reset_interval: 'daily' as const };
  const { data: made } = await createGuardrail({ client: of(managementKey), body });
  console.log('creates', made?.data.name, made?.data.reset_interval, made?.data.description);
};
void run();
