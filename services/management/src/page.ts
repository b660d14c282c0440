import { z } from 'zod';

const DECIMAL = /^(0|[1-9][0-9]{0,15})$/;

const integerText = (from: number, to: number) =>
  z
    .string()
    .refine((text) => DECIMAL.test(text) && Number(text) >= from && Number(text) <= to, {
      error: `must be an integer from ${from} to ${to}`,
    })
    .transform(Number);

/** A query parameter that is an integer, written in decimal without sign or leading zero. */
export const integerParameter = (from: number, to: number, fallback: number, description: string) =>
  integerText(from, to)
    .default(fallback)
    .meta({
      description,
      override: ({ jsonSchema }) => {
        Object.assign(jsonSchema, { type: 'integer', minimum: from, maximum: to, default: fallback });
      },
    });

/** A query parameter that is `true` or `false`, which is the default. */
export const booleanParameter = (description: string) =>
  z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({
      description,
      override: ({ jsonSchema }) => {
        delete jsonSchema.enum;
        Object.assign(jsonSchema, { type: 'boolean', default: false });
      },
    });

export const offsetPage = {
  offset: integerParameter(0, Number.MAX_SAFE_INTEGER, 0, 'Records to skip.'),
  limit: integerParameter(1, 100, 50, 'Maximum number of records to return.'),
};

export const PageQuery = z.object(offsetPage);

/** An offset page: `total_count` counts all matches, regardless of the page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), total_count: z.int().min(0).meta({ example: 1 }) });

export const dataOf = <Item extends z.ZodType>(item: Item) => z.strictObject({ data: item });

export const renderPage = <Row, Item>(
  { rows, total }: { readonly rows: readonly NoInfer<Row>[]; readonly total: number },
  render: (row: Row) => Item,
) => ({ data: rows.map(render), total_count: total });
