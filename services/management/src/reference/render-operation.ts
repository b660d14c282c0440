import { type Html, html } from '@ori/faces/html';
import { markdown, markdownLine, renderMembers, renderValue, type Schema, typeOf } from './render-schema.ts';

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value?: unknown }>>;
}

interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly description?: string;
}

export interface ReferenceOperation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly 'x-codeSamples': readonly { readonly source: string }[];
}

export function renderReferenceOperation(
  path: string,
  method: string,
  operation: ReferenceOperation,
  { parameterAt, tryAt }: { parameterAt: (reference: string) => Parameter; tryAt: string | undefined },
): Html {
  const { operationId, summary, description, requestBody, responses } = operation;
  const parameters = (operation.parameters ?? []).map((one) => ('$ref' in one ? parameterAt(one.$ref) : one));
  return html`<section>
<h3 id="${operationId}">${summary}</h3>
<p><code><b>${method.toUpperCase()}</b> ${path}</code>${tryAt && takesSession(operation) ? tryIt(`${method.toUpperCase()} ${path}`, requestBody, tryAt) : undefined}</p>
${markdown(description)}
${operation['x-codeSamples'].map(({ source }) => html`<pre><code>${source}</code></pre>`)}
${parameters.length === 0 ? undefined : html`<h4>Parameters</h4>\n<ul>${parameters.map(renderParameter)}</ul>`}
${requestBody && html`<h4>Body</h4>\n${contentsOf(requestBody.content)}`}
<h4>Answers</h4>
${Object.entries(responses).map(([status, answer]) => foldable(html`${status}: ${markdownLine(answer.description)}`, renderAnswer(answer)))}
</section>
`;
}

/** The other operations are public, or for the keys of programs. */
const takesSession = ({ tags, security }: ReferenceOperation) =>
  tags[0] === 'Interns' && security?.length !== 0;

function tryIt(request: string, body: ReferenceOperation['requestBody'], tryAt: string): Html {
  const { example, examples = {} } = Object.values(body?.content ?? {})[0] ?? {};
  const content = example ?? Object.values(examples)[0]?.value;
  const fields = new URLSearchParams({
    request,
    ...(content !== undefined && { body: JSON.stringify(content) }),
  });
  return html` <a href="${`${tryAt}?${fields}#try`}">Try it</a>`;
}

function renderParameter({ in: place, name, required = false, schema, description }: Parameter): Html {
  return renderValue(
    `${place === 'path' ? `{${name}}` : name}`,
    { ...schema, ...(description && { description }) },
    required,
  );
}

function renderAnswer({ headers = {}, content = {} }: Answer): Html {
  return html`<p>Headers: <code>${Object.keys(headers).join(', ')}</code></p>
${contentsOf(content)}`;
}

function contentsOf(content: Readonly<Record<string, Content>>): Html {
  return html`${Object.entries(content).map(
    ([
      type,
      { schema, example, examples = {} },
    ]) => html`<p><code>${type}</code>${schema && html`: ${typeOf(schema)}`}</p>
${schema && renderMembers(schema)}${example === undefined ? undefined : json(example)}${Object.values(examples).map(({ value }) => json(value))}`,
  )}`;
}

function json(value: unknown): Html {
  return html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>
`;
}

function foldable(title: string | Html, content: Html): Html {
  return html`<details><summary>${title}</summary>
${content}</details>
`;
}
