import { Html, html } from '@ori/faces/html';
import { marked } from 'marked';

/** A line of it, without a paragraph around it. */
export function markdownLine(text: string): Html {
  return new Html(marked.parseInline(text, { async: false }));
}

/** Our own Markdown, which is trusted, as markup; its headings begin below that of the page. */
export function markdown(text: string): Html {
  return new Html(marked.parse(text, { async: false }));
}

/** A JSON Schema, as far as the document uses the vocabulary. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly [limit: string]: unknown;
}

const LIMITS = 'minLength maxLength minItems maxItems minimum maximum'.split(' ');

/** A named value: its type, its limits, what it means, and the members of an object. */
export function renderValue(name: string, schema: Schema, isRequired: boolean): Html {
  return html`<li><code><b>${name}</b></code> ${typeOf(schema)}${isRequired ? html` <em>required</em>` : undefined}${renderLimits(schema)}
${schema.description === undefined ? undefined : markdown(schema.description)}${renderMembers(schema)}</li>
`;
}

/** The members of an object, or of the objects in an array. */
export function renderMembers(schema: Schema): Html | undefined {
  const { properties, required = [], items } = schema;
  if (properties === undefined) return items && renderMembers(items);
  const values = Object.entries(properties).map(([name, member]) =>
    renderValue(name, member, required.includes(name)),
  );
  return html`<ul>${values}</ul>`;
}

/** A name of a component links to its section. */
export function typeOf({ $ref, type, format, items, anyOf }: Schema): Html {
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (items !== undefined) return html`array of ${typeOf(items)}`;
  if (anyOf !== undefined)
    return html`${anyOf.map((one, index) => (index === 0 ? typeOf(one) : html` or ${typeOf(one)}`))}`;
  return html`${[type ?? 'any'].flat().join(' or ')}${format && ` (${format})`}`;
}

function renderLimits(schema: Schema): Html {
  const one = schema.const === undefined ? schema.enum : [schema.const];
  const limits = LIMITS.filter(
    (name) => schema[name] !== undefined && Math.abs(Number(schema[name])) < Number.MAX_SAFE_INTEGER,
  );
  return html`${limits.map((name) => html`, ${name} ${String(schema[name])}`)}${schema.pattern === undefined ? undefined : html`, <code>${schema.pattern}</code>`}${one && html`: <code>${one.map((value) => JSON.stringify(value)).join(' ')}</code>`}${schema.default === undefined ? undefined : html`, default <code>${JSON.stringify(schema.default)}</code>`}`;
}
