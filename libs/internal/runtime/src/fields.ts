import { z } from 'zod';

/** A setting: the format of its environment variable, and its documentation. */
export interface Field<T> {
  readonly doc: string;
  /** What a value looks like, completing "expected …". */
  readonly expected: string;
  readonly unit?: string | undefined;
  /** A secret may also be given as `<NAME>_FILE`, and is never printed. */
  readonly secret: boolean;
  /** The default in the configuration table; absent if there is none. */
  readonly defaultText?: string | undefined;
  /** Parses the text, or `undefined` for an unset variable; refusing that makes the field required. */
  readonly schema: z.ZodType<T>;
}

interface About {
  doc: string;
  unit?: string;
}

/** Without a default a field is required, unless it is marked `optional`. */
type Settled<V> = About & { default: V };
type Required = About & { default?: never; optional?: never };
type Optional = About & { optional: true };
type Options<V> = Settled<V> | Required | Optional;

function field<V>(options: Options<V>, expected: string, schema: z.ZodType<V>): Field<V> {
  const { doc, unit } = options;
  const about = { doc, unit, expected, secret: false };
  if ('default' in options && options.default !== undefined) {
    const fallback = options.default;
    const settled = schema.optional().transform((value) => value ?? fallback);
    return { ...about, defaultText: String(fallback), schema: settled };
  }
  // An optional field that is absent is undefined; the overloads below carry that into the type.
  const optional = 'optional' in options && options.optional === true;
  return { ...about, schema: optional ? (schema.optional() as unknown as z.ZodType<V>) : schema };
}

/** White space at an end, such as the CR of a file with CRLF, would be in a file's name or in what is compared. */
const trimmed = z.string().refine((value) => value === value.trim());

interface TextOptions {
  /** Describes the accepted values, for the problem; with `accepts`. */
  expected?: string;
  accepts?: (value: string) => boolean;
}

export function text(options: (Settled<string> | Required) & TextOptions): Field<string>;
export function text(options: Optional & TextOptions): Field<string | undefined>;
export function text(options: Options<string> & TextOptions): Field<string> | Field<string | undefined> {
  const { expected = 'a string', accepts = () => true } = options;
  return field(options, expected, trimmed.refine(accepts));
}

/** The path of a file; its user reads it. */
export function path(options: Settled<string> | Required): Field<string>;
export function path(options: Optional): Field<string | undefined>;
export function path(options: Options<string>): Field<string> | Field<string | undefined> {
  const schema = trimmed.refine((value) => !value.includes('\0'));
  return field(options, 'the path of a file', schema);
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
  const digits = z.string().regex(/^(0|[1-9][0-9]{0,15})$/);
  const schema = digits.transform(Number).pipe(z.int().min(min).max(max));
  return field(options, `an integer from ${min} to ${max}`, schema);
}

export function flag(options: Settled<boolean> | Required): Field<boolean> {
  const schema = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });
  return field(options, '"true" or "false"', schema);
}

export function choice<const V extends string>(
  values: readonly V[],
  options: Settled<NoInfer<V>> | Required,
): Field<V> {
  const expected = `one of ${values.map((value) => `"${value}"`).join(', ')}`;
  return field(options as Options<V>, expected, z.enum(values) as unknown as z.ZodType<V>);
}

interface ListOptions {
  /** Describes an item, for the problem; with `pattern`, which the whole item must match. */
  item?: string;
  pattern?: RegExp;
}

/** Comma-separated; white space around an item is ignored, an empty item is not accepted. */
export function list(
  options: (Settled<readonly string[]> | Required) & ListOptions,
): Field<readonly string[]> {
  const { item = 'value', pattern = /./s } = options;
  const items = z.string().transform((value) => value.split(',').map((part) => part.trim()));
  return field(
    options,
    `a comma-separated list, each a ${item}`,
    items.pipe(z.array(z.string().regex(pattern))),
  );
}

/** An absolute `http` or `https` URL without user information; kept exactly as written. */
export function url(options: Settled<string> | Required): Field<string>;
export function url(options: Optional): Field<string | undefined>;
export function url(options: Options<string>): Field<string> | Field<string | undefined> {
  const isUsable = (value: string): boolean => {
    if (!URL.canParse(value)) return false;
    const { protocol, username, password } = new URL(value);
    return ['https:', 'http:'].includes(protocol) && username === '' && password === '';
  };
  const expected = 'an absolute URL (https:// or http://) without user information';
  return field(options, expected, trimmed.refine(isUsable));
}
