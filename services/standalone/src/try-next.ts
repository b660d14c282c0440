/** The CLI's own default. */
const DEFAULT_BASE_URL = 'http://127.0.0.1:8080/v1';

/** The next commands after starting a standalone, in this order. */
export function tryNext({ baseUrl, daemonUrl }: { baseUrl: string; daemonUrl: string }): string[] {
  const call = `difference /api/invoke --daemon ${daemonUrl} --data '{"prompt":"hello"}'`;
  return [
    ...(baseUrl === DEFAULT_BASE_URL ? [] : [`export ORI_BASE_URL=${baseUrl}`]),
    'npx @ori/cli login',
    `npx @ori/cli call ${call}`,
    `npx @ori/cli doctor call ${call}`,
  ];
}
