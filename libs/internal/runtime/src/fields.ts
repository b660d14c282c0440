import { z } from 'zod';
import { Secret } from './secret.ts';

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

/** Without a default a field is required, unless it is marked `optional`. */
interface Options<V> {
  doc: string;
  unit?: string;
  default?: V;
  optional?: true;
}

type Value<V, O> = O extends { optional: true } ? V | undefined : V;

function field<V, O extends Options<V>>(
  options: O,
  expected: string,
  schema: z.ZodType<V>,
): Field<Value<V, O>> {
  const { doc, unit, optional, default: fallback } = options;
  const absent = optional ? undefined : fallback;
  return {
    doc,
    unit,
    expected,
    secret: false,
    ...(fallback !== undefined && { defaultText: String(fallback) }),
    // An optional field that is absent is undefined.
    schema: (optional || fallback !== undefined
      ? schema.optional().transform((value) => value ?? absent)
      : schema) as z.ZodType<Value<V, O>>,
  };
}

/** White space at an end, such as the CR of a file with CRLF, would be in a file's name or in what is compared. */
const trimmed = z.string().refine((value) => value === value.trim());

interface TextOptions {
  /** Describes the accepted values, for the problem; with `accepts`. */
  expected?: string;
  accepts?: (value: string) => boolean;
}

export function text<O extends Options<string> & TextOptions>(options: O) {
  const { expected = 'a string', accepts = () => true } = options;
  return field(options, expected, trimmed.refine(accepts));
}

/** A credential: its value in `<NAME>`, or the path of a file that contains it in `<NAME>_FILE`; never printed. */
export function secret<O extends Options<Secret> & TextOptions>(options: O) {
  const { expected = 'a secret', accepts = () => true } = options;
  const schema = z
    .string()
    .refine(accepts)
    .transform((value) => new Secret(value));
  return { ...field(options, expected, schema), secret: true };
}

/** The path of a file; its user reads it. */
export function path<O extends Options<string>>(options: O) {
  const schema = trimmed.refine((value) => !value.includes('\0'));
  return field(options, 'the path of a file', schema);
}

interface Range {
  min: number;
  max: number;
}

/** Decimal digits only: no sign, no unit, no exponent. */
export function integer<O extends Options<number> & Range>(options: O) {
  const { min, max } = options;
  const digits = z.string().regex(/^(0|[1-9][0-9]{0,15})$/);
  const schema = digits.transform(Number).pipe(z.int().min(min).max(max));
  return field(options, `an integer from ${min} to ${max}`, schema);
}

export function flag(options: Options<boolean>): Field<boolean> {
  const schema = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });
  return field(options, '"true" or "false"', schema);
}

export function choice<const V extends string>(values: readonly V[], options: Options<NoInfer<V>>): Field<V> {
  const expected = `one of ${values.map((value) => `"${value}"`).join(', ')}`;
  return field<V, Options<V>>(options, expected, z.enum(values) as unknown as z.ZodType<V>);
}

interface ListOptions {
  /** Describes an item, for the problem; with `pattern`, which the whole item must match. */
  item?: string;
  pattern?: RegExp;
}

/** Comma-separated; white space around an item is ignored, an empty item is not accepted. */
export function list(options: Options<readonly string[]> & ListOptions): Field<readonly string[]> {
  const { item = 'value', pattern = /./s } = options;
  const items = z.string().transform((value) => value.split(',').map((part) => part.trim()));
  return field<readonly string[], typeof options>(
    options,
    `a comma-separated list, each a ${item}`,
    items.pipe(z.array(z.string().regex(pattern))),
  );
}

/** An absolute `http` or `https` URL without user information; kept exactly as written. */
export function url<O extends Options<string>>(options: O) {
  const isUsable = (value: string): boolean => {
    if (!URL.canParse(value)) return false;
    const { protocol, username, password } = new URL(value);
    return ['https:', 'http:'].includes(protocol) && username === '' && password === '';
  };
  const expected = 'an absolute URL (https:// or http://) without user information';
  return field(options, expected, trimmed.refine(isUsable));
}
