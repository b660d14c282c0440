import { z } from 'zod';

/**
 * The example of a schema: that of its metadata, otherwise composed of those of its parts. A nullable field without an
 * example is null, an optional one is omitted, so that the example is a plausible record instead of a list of all
 * fields.
 *
 * @throws TypeError for a required field of an object that has no example
 */
export function exampleOf(schema: z.core.$ZodType): unknown {
  const given = z.globalRegistry.get(schema)?.['example'];
  if (given !== undefined) return given;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return exampleOf(schema.def.innerType);
  }
  if (schema instanceof z.ZodNullable) return exampleOf(schema.def.innerType) ?? null;
  if (schema instanceof z.ZodPipe) return exampleOf(schema.def.in);
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodArray) return exampleOfArray(schema);
  if (schema instanceof z.ZodObject) return exampleOfObject(schema);
  return undefined;
}

function exampleOfArray(schema: z.ZodArray): unknown {
  const item = exampleOf(schema.element);
  return item === undefined ? undefined : [item];
}

function exampleOfObject(schema: z.ZodObject): unknown {
  const fields = Object.entries(schema.shape).map(
    ([name, field]) => [name, exampleOf(field), field] as const,
  );
  const missing = fields.find(([, example, field]) => example === undefined && !isOptional(field));
  if (missing !== undefined) throw new TypeError(`${missing[0]}: a required field needs an example`);
  return Object.fromEntries(fields.filter(([, example]) => example !== undefined));
}

function isOptional(schema: z.core.$ZodType): boolean {
  return schema._zod.optin === 'optional';
}
