import type { Described } from './described.ts';
import { exampleOf } from './example-of.ts';
import { pathParametersOf } from './parameters.ts';

/** Example calls of an operation, for the reference (`x-codeSamples`). */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

interface SampleCall {
  readonly method: string;
  readonly url: string;
  /** The environment variable with the credential; undefined if none is needed. */
  readonly credential: string | undefined;
  readonly body: unknown;
  readonly isJson: boolean;
}

/** The call of an operation with its own examples, for curl, JavaScript and Python. */
export function codeSamplesOf(described: Described, baseUrl: string): CodeSample[] {
  const { method, path, body, answers } = described;
  const parameters = pathParametersOf(path)?.shape ?? {};
  const target = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters[name] && exampleOf(parameters[name])),
  );
  const call: SampleCall = {
    method,
    url: baseUrl + target,
    credential: credentialOf(described),
    body: body && exampleOf(body),
    isJson: answers[200]?.mediaTypes === undefined,
  };
  return [
    { lang: 'bash', label: 'curl', source: curl(call) },
    { lang: 'javascript', label: 'JavaScript', source: javascript(call) },
    { lang: 'python', label: 'Python', source: python(call) },
  ];
}

function credentialOf({ scopes, tag }: Described): string | undefined {
  if (scopes === null) return undefined;
  if (scopes.length > 0) return 'ORI_ACCESS_TOKEN';
  return tag === 'Interns' ? 'ORI_API_KEY' : 'ORI_MANAGEMENT_KEY';
}

function curl({ method, url, credential, body, isJson }: SampleCall): string {
  const lines = [
    `curl --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} '${url}'`,
    ...(credential === undefined ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
    ...(isJson ? [] : ['-o answer']),
  ];
  return lines.join(' \\\n  ');
}

function javascript({ method, url, credential, body, isJson }: SampleCall): string {
  const headers = [
    ...(credential === undefined ? [] : [`Authorization: \`Bearer \${process.env.${credential}}\``]),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2))})`]),
  ];
  const argument = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`;
  return `const response = await fetch('${url}'${argument});
if (!response.ok) throw new Error(await response.text());
console.log(await response.${isJson ? 'json' : 'bytes'}());`;
}

function python({ method, url, credential, body, isJson }: SampleCall): string {
  const token = `f"Bearer {os.environ['${credential}']}"`;
  const options = [
    ...(credential === undefined ? [] : [`headers={"Authorization": ${token}}`]),
    ...(body === undefined ? [] : [`json=${indented(pythonLiteral(body))}`]),
    'timeout=10',
  ];
  const imports = credential === undefined ? 'import requests' : 'import os\n\nimport requests';
  return `${imports}

response = requests.${method.toLowerCase()}(
    "${url}",
    ${options.join(',\n    ')},
)
response.raise_for_status()
print(response.${isJson ? 'json()' : 'content'})`;
}

/** A JSON value as a Python literal; strings look the same in both languages. */
function pythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${pythonLiteral(member)}`);
  return `{${members.join(', ')}}`;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
