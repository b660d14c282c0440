import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { disableApiKey } from '@ori/administration/api-keys';
import { setIcon } from '@ori/administration/icons';
import { createIntern } from '@ori/administration/interns';
import { addMember, removeMember } from '@ori/administration/members';
import { setProgramme } from '@ori/administration/organizations';
import { addSubject, createUser } from '@ori/administration/users';
import { deleteWorkspace } from '@ori/administration/workspaces';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filled, like, named } from '../../env/script.ts';
import { createTestCredential, type ManagementWorld, startManagementWorld, type Tenant } from './world.ts';

// Each file of `scripts/` has requests and their answers, and each comment in it begins a test:
//
//     # what the test shows
//     POST /keys {"name":"ci"}     a request below the base address, with the JSON of its body; several in a row have the same answer
//     as $API_KEY                  instead of our management key; `as nobody`, `as session SUBJECT`
//     If-Match: "x"                a header; with a Content-Type, what follows the path is sent as it is
//     < 201 {"key":"$KEY",...}     the answer: `...` is anything, a new $NAME the word that stands there, from then on
//     < etag: "$TAG"               a header of the answer
//     < not $KEY                   what is nowhere in it
//
//     operator createUser {…}      what only an operator does, and `sql …`: the answer is what that returns, as JSON
//
// {{200 x}} is 200 times x, {{200, x}} with commas between. $ORGANIZATION, $WORKSPACE, $USER, $SUBJECT, $INTERN, $INTERN_KEY, $API_KEY,
// $API_KEY_HASH and $MANAGEMENT_KEY are ours (`…_KEY_END` its last four characters), $THEIR_… another account's, $ISSUER is that of
// both, and a new one for each test is $UUID. `UPDATE_SCRIPTS=1` writes what is answered now.

const FOLDER = new URL('scripts/', import.meta.url);
const UPDATES = process.env['UPDATE_SCRIPTS'] !== undefined;
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

type Values = Record<string, string>;

for (const file of (await readdir(FOLDER)).filter((name) => name.endsWith('.http'))) {
  const script = (await readFile(new URL(file, FOLDER), 'utf8')).trimEnd();
  describe(file, () => {
    let world: ManagementWorld;
    const done: string[] = [];
    beforeAll(async () => {
      world = await startManagementWorld({ environment: { REGIONAL_HOSTS: 'eu.ori.example' } });
    });
    afterAll(async () => {
      await world[Symbol.asyncDispose]();
      if (UPDATES) await writeFile(new URL(file, FOLDER), `${done.join('\n\n')}\n`);
    });
    for (const section of script.split(/\n\n(?=#)/)) {
      const [title = ''] = section.split('\n');
      it(title.slice(2), async () => {
        const values = {
          ...valuesOf(world.ours, ''),
          ...valuesOf(world.theirs, 'THEIR_'),
          ISSUER: world.issuer.url,
          UUID: randomUUID(),
        };
        const at = done.push(section) - 1;
        done[at] = await play(world, section, values);
      });
    }
  });
}

const REQUEST = /^(?:GET|POST|PATCH|DELETE|HEAD|PUT|sql|operator) /;

/** Sends what a section says. @returns it as it would be right */
async function play(world: ManagementWorld, section: string, values: Values): Promise<string> {
  const right: string[] = [];
  let sent: string[] = [];
  let answers: Answer[] | undefined;
  for (const line of section.split('\n')) {
    const isAnswer = line.startsWith('< ');
    if (!isAnswer) {
      right.push(line);
      if (line === '' || line.startsWith('#')) continue;
      if (answers !== undefined) [sent, answers] = [[], undefined];
      sent.push(whole(filled(line, values)));
      continue;
    }
    if (answers === undefined) {
      answers = [];
      const headers = sent.filter((one) => !REQUEST.test(one));
      for (const request of sent.filter((one) => REQUEST.test(one)))
        answers.push(await answerTo(world, request, headers));
    }
    right.push(...new Set(answers.map((answer) => judged(answer, line, values, sent))));
  }
  if (answers === undefined) throw new Error(`without an answer: ${sent.join('\n')}`);
  return right.join('\n');
}

/** The line, or what it should be. */
function judged(
  { status, text, headers }: Answer,
  line: string,
  values: Values,
  sent: readonly string[],
): string {
  const [, name = '', wanted = ''] = /^< (not (?=\S)|[a-z-]+: )?(.+)$/.exec(line) ?? [];
  if (name === 'not ') {
    expect(text, line).not.toContain(filled(wanted, values));
    return line;
  }
  if (name !== '') expect(headers, line).toHaveProperty([name.slice(0, -2)]);
  const actual = name === '' ? `${status} ${text}`.trim() : String(headers[name.slice(0, -2)]);
  const match = like(whole(filled(wanted, values))).exec(actual);
  Object.assign(values, match?.groups);
  if (match !== null) return line;
  const told = named(actual, values)
    .replaceAll(/"20(?!99)\d\d-\d\d-\d\dT[\d:.]+Z"/g, '"..."')
    .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g, '...')
    .replaceAll(/sk-\.\.\.[0-9a-f]{4}\b/g, 'sk-...');
  if (!UPDATES) expect(`< ${name}${told}`, sent.join('\n')).toBe(line);
  return `< ${name}${told}`;
}

interface Answer {
  readonly status: number | '';
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

async function answerTo(world: ManagementWorld, request: string, lines: readonly string[]): Promise<Answer> {
  const result = (value: unknown): Answer => ({
    status: '',
    headers: {},
    text: JSON.stringify(value) ?? 'done',
  });
  const [, verb = '', name = '', rest = ''] = /^(\S+) (\S+) ?(.*)$/.exec(request) ?? [];
  if (verb === 'sql') return result((await sql.raw(request.slice(4)).execute(world.store.kysely)).rows);
  if (verb === 'operator') {
    const operate = operatorOf(world)[name];
    if (operate === undefined) throw new Error(`no operator does ${name}`);
    return result(await operate(JSON.parse(rest) as never));
  }
  const [, who, subject = ''] = lines.find((line) => line.startsWith('as '))?.split(' ') ?? [];
  const headers = lines.flatMap((line) => /^(\S+): ?(.*)$/.exec(line)?.slice(1) ?? []);
  if (rest !== '' && !headers.includes('Content-Type')) headers.push('Content-Type', 'application/json');
  return await world.call({
    method: verb,
    path: name,
    headers,
    ...(rest !== '' && { body: rest }),
    ...(who === 'nobody' && { bearer: null }),
    ...(who === 'session' && { bearer: await world.issuer.token({ subject, scope: 'interns' }) }),
    ...(who !== undefined && !['nobody', 'session'].includes(who) && { bearer: who }),
  });
}

type Operate = (json: never) => Promise<unknown>;

const operatorOf = ({ store, ours }: ManagementWorld): Readonly<Record<string, Operate>> => ({
  addMember: (json) => addMember(store, json),
  addSubject: (json) => addSubject(store, json),
  createApiKey: (json) => createApiKey(store, json),
  createIntern: (json) => createIntern(store, json),
  createTestCredential: (json) => createTestCredential(store, ours, json),
  createUser: (json) => createUser(store, json),
  createWorkspace: (json) => createWorkspace(store, json),
  deleteWorkspace: (json) => deleteWorkspace(store, json),
  disableApiKey: (json) => disableApiKey(store, json),
  removeMember: (json) => removeMember(store, json),
  setIcon: (json: { internId: string }) => setIcon(store, { ...json, bytes: PNG }),
  setProgramme: (json) => setProgramme(store, json),
});

/** With what is repeated. */
const whole = (line: string) =>
  line.replaceAll(/\{\{(\d+)(,?) (.+?)\}\}(?!\})/g, (_, times, comma, text) =>
    Array(Number(times)).fill(text).join(comma),
  );

/** The members of a tenant, as `API_KEY_HASH`, and the ends of its keys, which are shown. */
const valuesOf = (tenant: Tenant, prefix: string): Values =>
  Object.fromEntries(
    Object.entries(tenant).flatMap(([member, value]) => {
      const name = prefix + member.replace(/Id$/, '').replaceAll(/[A-Z]/g, '_$&').toUpperCase();
      return [[name, value], ...(name.endsWith('_KEY') ? [[`${name}_END`, value.slice(-4)]] : [])];
    }),
  );
