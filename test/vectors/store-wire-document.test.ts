import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { POSTGRES_REPLAY_SQL } from '../../libs/public/verifier/src/replay/postgres/schema.ts';
import { SCHEMA_VERSION } from '../../libs/public/verifier/src/replay/postgres/tables.ts';
import { answerKey, spentKey } from '../../libs/public/verifier/src/replay/redis/keys.ts';
import { issuedKey } from '../../libs/public/verifier/src/replay/redis/reservation.ts';
import { REDIS_SCRIPTS } from '../../libs/public/verifier/src/replay/redis/scripts.ts';
import * as limits from '../../libs/public/verifier/src/replay/times.ts';

const PUBLIC = join(import.meta.dirname, '../../libs/public');
const read = (folder: string, ...names: string[]): string =>
  names.map((name) => readFileSync(join(PUBLIC, folder, name), 'utf8')).join('\n');
const DOCUMENT = read('proof', 'STORE-WIRE.md').replaceAll(/\s+/g, ' ');
const SHARED = JSON.parse(read('python/src/ori_proof', 'shared.json'));
const STORES = [
  {
    language: 'TypeScript',
    scripts: REDIS_SCRIPTS as Readonly<Record<string, string>>,
    sql: POSTGRES_REPLAY_SQL,
    text: read(
      'verifier/src/replay',
      'shared-store.ts',
      'call-end.ts',
      ...['store.ts', 'keys.ts', 'script-runner.ts'].map((name) => `redis/${name}`),
      ...['store.ts', 'client.ts'].map((name) => `postgres/${name}`),
    ),
  },
  {
    language: 'Python',
    scripts: Object.fromEntries(
      Object.entries(SHARED.redis as Record<string, { source: string }>).map(([name, { source }]) => [
        name,
        source,
      ]),
    ),
    sql: SHARED.postgres.sql as string,
    text: read('python/src/ori_proof', 'shared_store.py', 'call_end.py', 'redis.py', 'postgres.py'),
  },
] as const;

/** The cells of the rows of the table with this head. */
function rowsOf(head: string): string[][] {
  const [, table = ''] = read('proof', 'STORE-WIRE.md').split(`\n${head}\n`);
  const [rows = ''] = table.split('\n\n');
  return rows
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.slice(2, -2).split(' | '));
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
const sorted = (words: Iterable<string>): string[] => [...new Set(words)].toSorted();
const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, word = '']) => word);

describe.each(STORES)(
  'STORE-WIRE.md says what the stores do in $language',
  ({ language, scripts, sql, text }) => {
    const lua = Object.values(scripts).join('\n');

    test('the members of the sorted set', () => {
      const written = [
        ...all(lua, /set_mark\('([^']+)'/g),
        ...all(lua, /'ZADD', spent, 'NX', \S+, '(.)' \.\./g),
        ...all(lua, /fence_name = '([^']+)'/g),
      ];
      const said = rowsOf('| Member of `spent` | Score |').flatMap(([member = '']) => quoted(member));
      expect(sorted(said)).toEqual(sorted(written));
    });

    test('the keys', () => {
      const written =
        language === 'TypeScript'
          ? [spentKey('{intern}'), issuedKey('{intern}', 'nonce'), answerKey('{intern}', 'nonce')].map(
              (key) => key.replace('{{intern}}', '{intern}'),
            )
          : all(text, /return f"(ori:[^"]+)"/g).map((key) =>
              key.replace('{{{intern_id}}}', '{intern}').replace('{nonce}', 'nonce'),
            );
      const said = rowsOf('| Key | Holds |').flatMap(([key = '']) => quoted(key));
      expect(sorted(said)).toEqual(sorted(written));
    });

    test('the number of keys and arguments of each script', () => {
      const counts = new Map<string, [keys: number, args: number]>();
      let [name = '', args] = ['', 0];
      for (const [script = '', keys = '', list = ''] of rowsOf('| Script | Keys | Arguments 7 on |')) {
        const isMore = !script.startsWith('`');
        if (!isMore) [name = ''] = quoted(script);
        const own = list.includes(' for each of several')
          ? 0
          : list
              .replaceAll(/`1` if [^;]+/g, 'flag')
              .split(/, | and |; /)
              .filter((each) => each !== '…').length;
        args = isMore ? args + own : 6 + own;
        counts.set(name, [keys.split(', ').length, args]);
      }
      const highest = (source: string, pattern: RegExp) => Math.max(...all(source, pattern).map(Number));
      for (const [script, source] of Object.entries(scripts)) {
        const [keys = 0, most] = counts.get(script) ?? [];
        expect([script, most]).toEqual([script, highest(source, /ARGV\[(\d+)\]/g)]);
        expect(highest(source, /KEYS\[(\d+)\]/g) + Number(source.includes('#KEYS'))).toBe(keys);
      }
      expect(sorted(counts.keys())).toEqual(sorted(Object.keys(scripts)));
    });

    test('the words of the answers', () => {
      const said = rowsOf('| Answer | Verdict |').flatMap(([answer = '']) => quoted(answer));
      const written = [...all(lua, /return \{'(\w+)'/g), ...all(sql, /verdict := '(\w+)'/g)];
      expect(sorted(written)).toEqual(sorted([...said, 'touched', 'forgot', 'kept']));
      for (const [answers = '', verdicts = ''] of rowsOf('| Answer | Verdict |').slice(1, 2)) {
        quoted(answers).forEach((word, index) => {
          const [after = ''] = text
            .concat(VERDICTS)
            .split(new RegExp(`(?:case )?['"]?${word}['"]?:`))
            .slice(1);
          expect(after.slice(0, 200)).toContain(quoted(verdicts)[index]);
        });
      }
    });

    test('the functions, their arguments and columns', () => {
      const state = 'verifier_now, event, identity, lsn, retention, tolerance, acks, wait_ms'.split(
        ', ',
      ).length;
      for (const [name = '', list = ''] of rowsOf('| Function | Arguments |')) {
        const [, signature = ''] =
          new RegExp(`FUNCTION ori_replay\\.${quoted(name)[0]}\\(([^)]+)\\)`).exec(sql) ?? [];
        const [given, columns] = [/^(?!OUT)/, /^OUT/].map((kind) =>
          signature
            .split(',')
            .map((each) => each.trim())
            .filter((each) => kind.test(each)),
        );
        const listed = list
          .replace(/: after.*|: before.*/, '')
          .replace('; to keep the answer, also', ',')
          .split(', ');
        const count = listed.reduce(
          (sum, each) => sum + (each === 'state' ? state : Number(each !== 'none')),
          0,
        );
        expect([name, given?.length]).toEqual([name, count]);
        for (const column of columns ?? []) expect(DOCUMENT).toContain(`\`${column.split(' ')[1]}\``);
      }
    });

    test.each([
      ['200 ms', /in time \((\d+) ms unless/, /timeout_?[mM]s(?:: float)? = (\d+)/],
      ['every 2 s', /every (\d+) s \(unless/, /touch_?[sS]econds(?:: float)? = (\d+)/],
      ['at most 60', /configured, at most (\d+), or/, /touch_?[sS]econds <= (\d+)/],
      ['12 bytes of IV', /base64 of (\d+) bytes of IV/, /IV_BYTES, TAG_BYTES\]? = [[(]?(\d+)/],
      ['16 of tag', /IV, (\d+) of tag/, /IV_BYTES, TAG_BYTES\]? = [[(]?\d+, (\d+)/],
      ['six decimals', /seconds with (six) decimals/, /(?:toFixed\(|now:\.)(6)/],
    ])('%s', (_title, said, written) => {
      const number = (pattern: RegExp, from: string) =>
        pattern.exec(from)?.[1]?.replace('six', '6') ?? pattern.source;
      expect(number(said, DOCUMENT)).toBe(number(written, text));
    });

    test('the errors of the servers', () => {
      for (const word of ['OOM', 'MISCONF', 'READONLY', 'NOREPLICAS', 'SyncRepWaitForLSN', '53300']) {
        expect(DOCUMENT).toContain(word);
        expect(text).toContain(word);
      }
      const [, states = ''] = /SQLSTATE ([\w, ]+) are `replay_store_unsafe`/.exec(DOCUMENT) ?? [];
      const [, map = ''] = /UNSAFE[^{(]*[{(](.*?)\n(?:\}|def|class|Row)/s.exec(text) ?? [];
      expect(sorted(states.split(', '))).toEqual(sorted(all(map, /['"](\w{5})['"]/g)));
    });

    test('the outcomes and their seal', () => {
      for (const word of [
        ...quoted(DOCUMENT.split('## Outcomes')[1] ?? '').slice(0, 3),
        'ori kept answer',
        'sealed:',
      ])
        expect(text).toContain(word);
    });
  },
);

/** Where the words become refusals in TypeScript. */
const VERDICTS = read('verifier/src/replay', 'verdict.ts');

test.each([
  [/`SET key record XX EX (\d+)`/, limits.ANSWER_SECONDS, 'ANSWER_SECONDS'],
  [/no sign of life for (\d+) s/, limits.LIFE_SECONDS, 'LIFE_SECONDS'],
  [/the end of that second and (\d+)/, limits.TOLERANCE_SECONDS_MAX, 'TOLERANCE_SECONDS_MAX'],
  [/are version (\d+)\./, SCHEMA_VERSION, undefined],
  [/at most 60, or (\d+) if it keeps answers/, limits.LIFE_SECONDS / 3, undefined],
])('STORE-WIRE.md has the number of %s', (pattern, number, name) => {
  expect(Number(pattern.exec(DOCUMENT)?.[1])).toBe(number);
  if (name === undefined) return;
  expect(SHARED.limits[name]).toBe(number);
  const store = read('python/src/ori_proof', 'store.py');
  expect(Number(new RegExp(`^${name} = (\\d+)$`, 'm').exec(store)?.[1])).toBe(number);
});

test('STORE-WIRE.md names the schema version of both', () => {
  expect(SHARED.postgres.version).toBe(SCHEMA_VERSION);
});
