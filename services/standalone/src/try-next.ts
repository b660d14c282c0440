import { fileURLToPath } from 'node:url';

/** The `ori` of this checkout, by a path that works in every folder. */
const ORI = fileURLToPath(new URL('../../../node_modules/.bin/ori', import.meta.url));

/** The CLI's own default. */
const DEFAULT_BASE_URL = 'http://127.0.0.1:8080/v1';

/** The next commands after starting a standalone, in this order. */
export function tryNext({ baseUrl, daemonUrl }: { baseUrl: string; daemonUrl: string }): string[] {
  const ori = /^[\w./-]+$/.test(ORI) ? ORI : `'${ORI.replaceAll("'", `'\\''`)}'`;
  const call = `difference /api/invoke --daemon ${daemonUrl} --data '{"prompt":"hello"}'`;
  return [
    ...(baseUrl === DEFAULT_BASE_URL ? [] : [`export ORI_BASE_URL=${baseUrl}`]),
    `${ori} login`,
    `${ori} call ${call}`,
    `${ori} doctor call ${call}`,
  ];
}
