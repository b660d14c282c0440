/** The first rows of a list, and whether the limit cut any off. */
export interface Listed<Row> {
  readonly rows: Row[];
  readonly hasMore: boolean;
}

export interface ListRequest {
  readonly limit: number;
}

interface Limitable<Row> {
  limit(rows: number): { execute(): Promise<Row[]> };
}

export async function firstOf<Row>(query: Limitable<Row>, { limit }: ListRequest): Promise<Listed<Row>> {
  const rows = await query.limit(limit + 1).execute();
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}
