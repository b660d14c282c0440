import { openPostgres } from '@ori/store/postgres';
import { signerQueries } from '@ori/store/signer';
import { createDatabase } from '@ori/test-env/postgres';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createStatementNames } from './statement-names.ts';

const QUESTION = { issuer: 'https://issuer.test', subject: 'nobody', internId: 'int_unknown' };

it('names each text once, except writes, texts without parameters and those after the hundredth', () => {
  const nameOf = createStatementNames();
  const name = nameOf('select $1', [1]);
  expect(name).toMatch(/^ori_.{43}$/);
  expect(nameOf('select $1', [2])).toBe(name);
  expect(nameOf('select 1', [])).toBeUndefined();
  expect(nameOf('insert into selected values ($1)', [1])).toBeUndefined();
  const names = [
    'with a as (select $1) select 1',
    ...Array.from({ length: 98 }, (_, index) => `select $1, ${index}`),
  ];
  expect(new Set([name, ...names.map((text) => nameOf(text, [1]))]).size).toBe(100);
  expect(nameOf('select $1, 100', [1])).toBeUndefined();
  expect(nameOf('select $1', [3])).toBe(name);
});

it('gives a text the same name in every process, and two texts never the same', () => {
  const [one, other] = [createStatementNames(), createStatementNames()];
  const [first, second] = ['select 1, $1', 'select 2, $1'].map((text) => one(text, [1]));
  expect(other('select 2, $1', [1])).toBe(second);
  expect(other('select 1, $1', [1])).toBe(first);
  expect(first).not.toBe(second);
});

it('has the server plan the gate query once per connection', async () => {
  await using database = await createDatabase();
  const db = openPostgres({ url: database.signerUrl, poolMax: 1 });
  for (let times = 0; times < 3; times++) await signerQueries(db).gateFacts(QUESTION);
  const { rows } = await sql<{ runs: number }>`
    select generic_plans + custom_plans as runs from pg_prepared_statements
    where statement like '%lifecycle_writes%'`.execute(db.kysely);
  expect(rows).toEqual([{ runs: 3 }]);
  await db.close();
});

it('fails at most one query per connection when a column changes its type', async () => {
  await using database = await createDatabase();
  const db = openPostgres({ url: database.signerUrl, poolMax: 1 });
  const owner = openPostgres({ url: database.url, poolMax: 1 });
  const ask = () => signerQueries(db).signingKeys('int_unknown');
  await ask();
  await sql`alter table signing_keys alter column kid type varchar(100)`.execute(owner.kysely);
  await expect(ask()).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'refused' });
  expect(await ask()).toEqual([]);
  await Promise.all([db.close(), owner.close()]);
});
