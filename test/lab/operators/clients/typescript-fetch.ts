import { Configuration, GuardrailsApi, InternsApi } from './client/index';

const { ORI_BASE_URL: basePath, ORI_API_KEY: apiKey, ORI_MANAGEMENT_KEY: managementKey } = process.env;
const of = (accessToken?: string) => new Configuration({ basePath, accessToken });
const run = async () => {
  const interns = await new InternsApi(of(apiKey)).listInterns();
  console.log('lists', interns.data.map(({ name }) => name).join());
  const wanted = { name: 'made', limitUsd: 5, resetInterval: 'daily' as const };
  const made = await new GuardrailsApi(of(managementKey)).createGuardrail({ guardrailCreate: wanted });
  console.log('creates', made.data.name, made.data.resetInterval, made.data.description);
};
void run();
