import { z } from 'zod';

/** The parameters of paths, by name. What does not match names nothing: 404. */
const PATH_PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  internId: z.string().min(1).meta({
    description: 'Intern identifier: 1 to 128 of `A-Z a-z 0-9 _ -`, the first a letter or a digit.',
    example: 'int_7Qm2',
  }),
  id: z
    .uuid()
    .meta({ description: 'Identifier of the record.', example: '8f6b0c52-3c1e-4a8f-9d57-2f1f6f6f0a11' }),
};

/** The parameters that a path template holds; undefined where there are none. */
export function pathParametersOf(template: string): z.ZodObject | undefined {
  const names = [...template.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  if (names.length === 0) return undefined;
  return z.object(
    Object.fromEntries(
      names.map((name) => {
        const parameter = PATH_PARAMETERS[name];
        if (parameter === undefined) throw new TypeError(`{${name}} of ${template} is not described`);
        return [name, parameter];
      }),
    ),
  );
}

/** Accepted everywhere, and described where the interface names them; they change nothing. */
export const AppHeaders = z.object({
  'HTTP-Referer': z
    .string()
    .optional()
    .meta({ description: 'Address of your application, to identify it.', param: { id: 'HTTP-Referer' } }),
  'X-Ori-Title': z
    .string()
    .optional()
    .meta({ description: 'Name of your application.', param: { id: 'X-Ori-Title' } }),
  'X-Ori-Categories': z
    .string()
    .optional()
    .meta({
      description: 'Categories of your application, separated by commas.',
      param: { id: 'X-Ori-Categories' },
    }),
});

export const IfNoneMatch = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ description: 'The `ETag` of the answer that was kept.', param: { id: 'If-None-Match' } }),
});
