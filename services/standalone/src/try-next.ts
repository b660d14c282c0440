import { fileURLToPath } from 'node:url';

/** The folder of this checkout's `ori`. */
const FOLDER = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));

/** The CLI's own default. */
const DEFAULT_BASE_URL = 'http://127.0.0.1:8080/v1';

/** The next commands after starting a standalone, in this order; they work in every folder. */
export function tryNext({ baseUrl, daemonUrl }: { baseUrl: string; daemonUrl: string }): string[] {
  const folder = /^[\w./-]+$/.test(FOLDER) ? FOLDER : `'${FOLDER.replaceAll("'", `'\\''`)}'`;
  const call = `greeter /api/invoke --data '{"prompt":"hello"}'`;
  return [
    `export PATH=${folder}:$PATH`,
    ...(baseUrl === DEFAULT_BASE_URL ? [] : [`export ORI_BASE_URL=${baseUrl}`]),
    'ori login',
    `ori profiles daemon greeter ${daemonUrl}`,
    `ori call ${call}`,
    `ori doctor call ${call}`,
  ];
}
