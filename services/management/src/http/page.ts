import { z } from 'zod';

/** A point in time: ISO 8601, UTC, with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({
  description: 'ISO 8601 UTC time with milliseconds.',
  example: '2026-11-20T12:00:00.000Z',
  override: { pattern: '\\.[0-9]{3}Z$' },
});

export const WorkspaceId = z.string().min(1).max(128).meta({ description: 'Workspace identifier.' });

const integerText = (from: number, to: number) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, `must be an integer from ${from} to ${to}`)
    .transform(Number)
    .pipe(z.int().min(from).max(to));

/** A query parameter that is an integer, written in decimal without sign or leading zero. */
export const integerParameter = (from: number, to: number, fallback: number, description: string) =>
  integerText(from, to)
    .default(fallback)
    .meta({
      description,
      override: ({ jsonSchema }) => {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: 'integer', minimum: from, maximum: to, default: fallback });
      },
    });

/** How the offset lists are paged. */
export const offsetPage = {
  offset: integerParameter(0, Number.MAX_SAFE_INTEGER, 0, 'Records to skip.'),
  limit: integerParameter(1, 100, 50, 'Records to return at the most.'),
};

/** An offset page: `total_count` counts all matches, whatever the page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), total_count: z.int().min(0) });

export const dataOf = <Item extends z.ZodType>(item: Item) => z.strictObject({ data: item });
