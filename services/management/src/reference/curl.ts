import type { Described } from '@ori/api/operations';
import { pathParametersOf } from '../http/path-parameters.ts';
import { exampleOf } from './example-of.ts';

/** The call of an operation with its own examples, for a shell; the credential is in the environment. */
export function curlOf(described: Described, baseUrl: string): string {
  const { method, path, body, answers } = described;
  const parameters = pathParametersOf(path)?.shape ?? {};
  const target = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters[name] && exampleOf(parameters[name])),
  );
  const credential = credentialOf(described);
  const content = body && JSON.stringify(exampleOf(body)).replaceAll("'", "'\\''");
  const lines = [
    `curl --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} '${baseUrl}${target}'`,
    ...(credential === undefined ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...(content === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${content}'`]),
    ...(answers[200]?.mediaTypes === undefined ? [] : ['-o answer']),
  ];
  return lines.join(' \\\n  ');
}

function credentialOf({ scopes, tag }: Described): string | undefined {
  if (scopes === null) return undefined;
  if (scopes.length > 0) return 'ORI_ACCESS_TOKEN';
  return tag === 'Interns' ? 'ORI_API_KEY' : 'ORI_MANAGEMENT_KEY';
}
