/**
 * The kinds of value a service is configured with. A field says in the operator's words what it expects, so that
 * a complaint can quote it; it never sees the environment itself.
 */
export interface Field<T> {
  readonly doc: string;
  /** What a value looks like, completing "expected …". */
  readonly expected: string;
  readonly unit?: string | undefined;
  /** A secret may also come as `<NAME>_FILE`, and is never printed. */
  readonly secret: boolean;
  readonly required: boolean;
  /** The default as the configuration table shows it; absent when there is none. */
  readonly defaultText?: string | undefined;
  readonly fallback: T;
  /** The value, or `undefined` when the text is not one. */
  parse(text: string): T | undefined;
}

interface About {
  doc: string;
  unit?: string;
}

interface Shape<V> {
  expected: string;
  print?: (value: V) => string;
  parse: (text: string) => V | undefined;
}

/** Without a default a field is required, unless it is marked `optional`. */
type Settled<V> = About & { default: V };
type Required = About & { default?: never; optional?: never };
type Optional = About & { optional: true };
type Options<V> = Settled<V> | Required | Optional;

function field<V>(options: Options<V>, shape: Shape<V>): Field<V> {
  const settled = 'default' in options && options.default !== undefined;
  return {
    doc: options.doc,
    unit: options.unit,
    expected: shape.expected,
    secret: false,
    required: !settled && !('optional' in options && options.optional === true),
    defaultText: settled ? (shape.print ?? String)(options.default as V) : undefined,
    // An absent optional field is undefined; the overloads below carry that into the type.
    fallback: ('default' in options ? options.default : undefined) as V,
    parse: shape.parse,
  };
}

const TEXT: Shape<string> = { expected: 'a text', parse: (text) => text };

export function text(options: Settled<string> | Required): Field<string>;
export function text(options: Optional): Field<string | undefined>;
export function text(options: Options<string>): Field<string> | Field<string | undefined> {
  return field(options, TEXT);
}

/** The path of a file; the file itself is read by whoever needs it. */
export function path(options: Settled<string> | Required): Field<string>;
export function path(options: Optional): Field<string | undefined>;
export function path(options: Options<string>): Field<string> | Field<string | undefined> {
  return field(options, {
    expected: 'the path of a file',
    parse: (value) => (value.includes('\0') ? undefined : value),
  });
}

interface Range {
  min: number;
  max: number;
}

/** Decimal digits only: no sign, no unit, no exponent. */
export function integer(options: (Settled<number> | Required) & Range): Field<number>;
export function integer(options: Optional & Range): Field<number | undefined>;
export function integer(options: Options<number> & Range): Field<number> | Field<number | undefined> {
  const { min, max } = options;
  return field(options, {
    expected: `an integer from ${min} to ${max}`,
    parse(value) {
      if (!/^(0|[1-9][0-9]{0,15})$/.test(value)) return undefined;
      const number = Number(value);
      return number >= min && number <= max ? number : undefined;
    },
  });
}

export function flag(options: Settled<boolean> | Required): Field<boolean> {
  return field(options, {
    expected: '"true" or "false"',
    parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
  });
}

export function choice<const V extends string>(
  values: readonly V[],
  options: Settled<NoInfer<V>> | Required,
): Field<V> {
  return field(options as Options<V>, {
    expected: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
    parse: (value) => values.find((known) => known === value),
  });
}

interface ListOptions {
  /** What one item is, for the complaint; with `pattern`, which the whole item must match. */
  item?: string;
  pattern?: RegExp;
}

/** Comma-separated; white space around an item is ignored, an empty item is not accepted. */
export function list(
  options: (Settled<readonly string[]> | Required) & ListOptions,
): Field<readonly string[]> {
  const { item = 'value', pattern } = options;
  return field<readonly string[]>(options, {
    expected: `a comma-separated list, each a ${item}`,
    print: (values) => values.join(','),
    parse(value) {
      const items = value.split(',').map((part) => part.trim());
      const good = (part: string) => part !== '' && (pattern === undefined || pattern.test(part));
      return items.every(good) ? items : undefined;
    },
  });
}

interface UrlOptions {
  /** Accepted schemes with their colon; `['https:', 'http:']` unless given. */
  protocols?: readonly string[];
}

/** An absolute URL without user information; kept exactly as written. */
export function url(options: (Settled<string> | Required) & UrlOptions): Field<string>;
export function url(options: Optional & UrlOptions): Field<string | undefined>;
export function url(options: Options<string> & UrlOptions): Field<string> | Field<string | undefined> {
  const protocols = options.protocols ?? ['https:', 'http:'];
  return field(options, {
    expected: `an absolute URL (${protocols.map((name) => `${name}//`).join(' or ')}) without user information`,
    parse(value) {
      if (!URL.canParse(value)) return undefined;
      const parsed = new URL(value);
      const good = protocols.includes(parsed.protocol) && parsed.username === '' && parsed.password === '';
      return good ? value : undefined;
    },
  });
}
