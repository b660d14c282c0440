import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { open } from '@ori/sealing/open';
import { sealedUnder } from '@ori/sealing/seal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../env/ports.ts';
import { serve } from '../env/serve.ts';
import { listen } from './cli-world.ts';
import { type OperatorWorld, startOperatorWorld, verified } from './ori-admin-world.ts';

/** Secrets that no output may contain. */
const PROVIDER_KEY = 'sk-proj-canary-4f1c09aa7be2d5';
const NEXT_PROVIDER_KEY = '{"api_key":"sk-proj-canary-9d0e11bb3c6f77","region":"europe"}';

let world: OperatorWorld;
beforeAll(async () => {
  world = await startOperatorWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Created in the first test, by commands only. */
const made = { org: '', ws: '', ada: '', intern: '', apiKey: '', managementKeyFile: '', credential: '' };
let other = '';
let team: { readonly id?: string; readonly name: string } = { name: 'Analytical Engines' };
const apply = (workspace: object) => world.admin.apply({ ...team, workspaces: [workspace] });
let signingKey = '';

it('requires a migration first, then migrates an empty database, once', async () => {
  const { admin } = world;
  const early = await admin.run(['org', 'list']);
  expect(early).toMatchObject({ exit: 4, stderr: expect.stringContaining('Run ori-admin migrate') });
  const { applied } = await admin.json('migrate');
  expect(applied).toContain('0001-schema');
  expect(await admin.json('migrate')).toEqual({ applied: [] });
});

it('waits for a database that is not there yet, if told to', async () => {
  const url = new URL(world.databaseUrl);
  const { hostname } = url;
  const port = Number(url.port);
  let isThere = false;
  // Closes the first connection, as if nothing listened yet.
  const late = createServer((client) => {
    if (isThere) return void client.pipe(connect(port, hostname)).pipe(client);
    isThere = true;
    client.destroy();
  });
  await using server = await serve(late);
  url.host = server.address;
  const environment = { ORI_ADMIN_DATABASE_URL: url.href };
  expect(await world.admin.run(['migrate'], { environment })).toMatchObject({ exit: 6 });
  isThere = false;
  expect(await world.admin.run(['migrate', '--wait', '60'], { environment })).toMatchObject({ exit: 0 });
});

it('builds a whole tenant', async () => {
  const { admin, issuer, kekFile, managementKekFile, room } = world;
  expect(await admin.run(['kek', 'generate', 'signer', '--out', kekFile])).toMatchObject({ exit: 0 });
  await admin.get('kek', 'generate', 'management', '--out', managementKekFile);
  expect((await stat(kekFile)).mode & 0o777).toBe(0o600);
  await apply({
    name: 'Workshop',
    default: true,
    programme: true,
    members: [{ subject: 'ada', name: 'Ada' }],
    interns: [{ name: 'charles', model: 'openai/gpt', signing_key: true }],
  });
  made.org = await admin.idOf('org', team.name);
  made.ws = await admin.idOf('workspace', 'Workshop');
  made.ada = await admin.idOf('user', 'Ada');
  made.intern = await admin.idOf('intern', 'charles');
  made.apiKey = await admin.get('key', 'create', '--kind', 'api', '--workspace', made.ws, '--name', 'ci');
  made.managementKeyFile = join(room.directory, 'management.key');
  const where = ['--organization', made.org, '--out', made.managementKeyFile];
  await admin.get('key', 'create', '--kind', 'management', '--name', 'console', ...where);
  const stored = await admin.run(['byok', 'create', '--provider', 'openai', '--workspace', made.ws], {
    stdin: `${PROVIDER_KEY}\n`,
  });
  expect(stored).toMatchObject({ exit: 0 });
  made.credential = stored.stdout.trim();
  expect((await admin.json('user', 'list')).data).toMatchObject([
    { id: made.ada, subjects: [{ issuer: issuer.url, subject: 'ada' }] },
  ]);
});

it('lets signing keys end after 90 days, and rotates every one that is due', async () => {
  const { admin } = world;
  const now = Date.now() / 1000;
  const [key] = (await admin.json('signing-key', 'list', '--intern', made.intern)).data;
  expect(key.expires_at - now).toBeGreaterThan(89 * 86_400);
  expect(key.expires_at - now).toBeLessThanOrEqual(90 * 86_400);
  await apply({ name: 'Workshop', interns: [{ name: 'due' }] });
  const intern = await admin.idOf('intern', 'due');
  await admin.get('signing-key', 'add', intern, '--lifetime', '10');
  expect((await admin.json('signing-key', 'list', '--expiring')).data).toMatchObject([{ intern_id: intern }]);
  expect(await admin.json('signing-key', 'rotate', '--due')).toEqual({ rotated: 1, failed: [] });
  expect((await admin.json('signing-key', 'list', '--expiring')).data).toEqual([]);
  expect(await admin.run(['signing-key', 'rotate', '--due'])).toMatchObject({ exit: 0, stdout: '' });
  expect(await admin.run(['signing-key', 'rotate'])).toMatchObject({ exit: 2 });
  expect(await admin.run(['intern', 'delete', intern, '--yes'])).toMatchObject({ exit: 0 });
});

it('creates what a signer needs for a proof, which a daemon verifies; limits and disabling take effect', async () => {
  await using _signer = await world.startSigner();
  const ask = () => world.sign(made.intern);
  const answer = await ask();
  expect(answer.status).toBe(200);
  const proof = (await answer.json()) as Record<string, string>;
  expect(await verified(world, made.intern, proof)).toMatchObject({
    user: 'ada',
    internId: made.intern,
    version: 2,
  });

  const { admin } = world;
  const quota = async () => /;q=(\d+)/.exec((await ask()).headers.get('ratelimit-policy') ?? '')?.[1];
  const usual = await quota();
  await admin.apply({ ...team, limits: { turns_per_user: 20 } });
  await expect.poll(quota).toBe('20');
  const answers: Response[] = [];
  while (answers.at(-1)?.status !== 429) answers.push(await ask());
  const left = (response?: Response) => /;r=(\d+)/.exec(response?.headers.get('ratelimit') ?? '')?.[1];
  expect(left(answers.at(-2))).toBe('0');
  await admin.apply({ ...team, limits: { turns_per_user: null } });
  await expect.poll(quota).toBe(usual);
  expect((await ask()).status).toBe(200);
  const { data: changes } = await admin.json('audit', 'list', '--row', made.org, '--table', 'organizations');
  expect(changes.slice(0, 2)).toMatchObject([
    { before: { turns_per_user: 20 }, after: { turns_per_user: null } },
    { before: { turns_per_user: null }, after: { turns_per_user: 20 } },
  ]);

  await admin.get('user', 'disable', made.ada);
  await expect.poll(async () => (await ask()).status).toBe(403);
  await admin.get('user', 'enable', made.ada);
});

describe('a provider key', () => {
  it('is rotated in place, and its label and region change with it', async () => {
    const { admin, query } = world;
    const rotated = await admin.run(['byok', 'rotate', made.credential, '--json'], {
      stdin: NEXT_PROVIDER_KEY,
    });
    expect(JSON.parse(rotated.stdout)).toEqual({ id: made.credential, label: 'sk-...6f77' });
    const [row] = await query('SELECT declared_region, key_region FROM byok_credentials');
    expect(row).toEqual({ declared_region: 'europe', key_region: 'europe' });
  });

  it('can be opened under the ring for its row only', async () => {
    const [row] = await world.query<{ id: string; sealed_key: string }>('SELECT * FROM byok_credentials');
    const ring = parseKekRing(await readFile(world.managementKekFile, 'utf8'));
    const context = { table: 'byok_credentials', column: 'sealed_key', organizationId: made.org };
    const opened = await open(ring, row?.sealed_key ?? '', { ...context, row: made.credential });
    expect(new TextDecoder().decode(opened)).toBe(NEXT_PROVIDER_KEY);
  });

  it.each([
    [['--provider', 'nobody'], PROVIDER_KEY, 'Unknown provider'],
    [['--provider', 'openai'], `${PROVIDER_KEY}\u0007`, 'must have no control characters'],
    [['--provider', 'openai', '--name', 'n'.repeat(256)], PROVIDER_KEY, 'BYOK credential: a value'],
  ])('is refused with the rules of the API: %j', async (args, stdin, why) => {
    const before = await world.admin.json('byok', 'list');
    const create = ['byok', 'create', '--workspace', made.ws, ...args];
    const { exit, stderr } = await world.admin.run(create, { stdin });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(why) });
    expect(await world.admin.json('byok', 'list')).toEqual(before);
  });

  it('is not read from a terminal, where it would stay on the screen', async () => {
    const create = ['byok', 'create', '--provider', 'openai', '--workspace', made.ws];
    const typed = await world.admin.run(create, { screens: ['stdin'], stdin: PROVIDER_KEY });
    expect(typed).toMatchObject({ exit: 2, stderr: expect.stringContaining('--key-file') });
  });
});

describe('a secret on a terminal', () => {
  it.each([
    ['key', ['key', 'create', '--kind', 'api', '--name', 'seen']],
    ['KEK', ['kek', 'generate', 'signer']],
  ])('a %s is neither printed nor created unless requested', async (_, create) => {
    const args = create[0] === 'key' ? [...create, '--workspace', made.ws] : create;
    const before = await world.admin.json('key', 'list');
    const unasked = await world.admin.run(args, { screens: ['stdout'] });
    expect(unasked).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining('--show') });
    expect(await world.admin.json('key', 'list')).toEqual(before);
    const asked = await world.admin.run([...args, '--show'], { screens: ['stdout'] });
    expect(asked).toMatchObject({ exit: 0, stdout: expect.stringMatching(/sk-ori-v1-|"kty"/) });
  });

  const createInto = (file: string, workspace: string) => [
    ...['key', 'create', '--kind', 'api', '--workspace', workspace],
    ...['--name', 'once', '--out', join(world.room.directory, file)],
  ];

  it('is written to a new file for its owner only, never into an existing file', async () => {
    const file = join(world.room.directory, 'once.key');
    const create = createInto('once.key', made.ws);
    const { stdout, stderr } = await world.admin.run(create, { screens: ['stdout'] });
    const key = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(stdout + stderr).not.toContain(key);
    expect(stdout.trim()).toBe(createHash('sha256').update(key).digest('hex'));
    expect(await world.admin.run(create)).toMatchObject({ exit: 2 });
    expect((await readFile(file, 'utf8')).trim()).toBe(key);
  });

  it('leaves no file behind when no key was made', async () => {
    expect(await world.admin.run(createInto('none.key', 'ws_absent'))).toMatchObject({ exit: 3 });
    await expect(stat(join(world.room.directory, 'none.key'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

it.each([
  ['signer', 'SELECT sealed_seed AS text FROM signing_keys'],
  ['management', 'SELECT sealed_key AS text FROM byok_credentials'],
] as const)(
  'replaces the KEK of the %s in steps, each refused before its time',
  async (owner, sealedTexts) => {
    const { admin, room } = world;
    const variable = `ORI_ADMIN_${owner.toUpperCase()}_KEK_FILE`;
    const former = owner === 'signer' ? world.kekFile : world.managementKekFile;
    const file = (step: string) => join(room.directory, `${owner}-${step}.json`);
    const kidsOf = async (path: string) => parseKekRing(await readFile(path, 'utf8')).kids;
    const [added, promoted] = [file('added'), file('promoted')];
    await admin.get('kek', 'generate', owner, '--add-to', former, '--out', added);
    const [formerKid = '', kid = ''] = await kidsOf(added);
    // Instances that report the KEKs of their file, as the services do.
    await using lacks = await startInstance(await kidsOf(former));
    await using holds = await startInstance([formerKid, kid]);
    const asAdded = { environment: { [variable]: added } };
    const promote = ['kek', 'promote', owner, kid, '--out', promoted];
    expect(await admin.run(promote, asAdded)).toMatchObject({ exit: 2 });
    expect(await admin.run([...promote, '--instances', `${holds.url},${lacks.url}`], asAdded)).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining(`${lacks.url} holds ${formerKid}`),
    });
    await admin.run([...promote, '--instances', holds.url], asAdded);
    const asPromoted = { environment: { [variable]: promoted } };
    expect(await kidsOf(promoted)).toEqual([kid, formerKid]);
    await using seals = await startInstance([kid, formerKid]);
    const remove = ['kek', 'remove', owner, formerKid, '--out', file('removed'), '--instances'];
    expect(await admin.run([...remove, seals.url], asPromoted)).toMatchObject({ exit: 4 });
    expect(
      await admin.run(['kek', 'remove', owner, kid, '--instances', seals.url], asPromoted),
    ).toMatchObject({ exit: 4, stderr: expect.stringContaining('Promote another key') });
    const reseal = ['kek', 'reseal', owner, '--instances'];
    // An instance that has not read the promoted ring could seal another row under the former key.
    for (const command of [reseal, remove])
      expect(await admin.run([...command, `${seals.url},${holds.url}`], asPromoted)).toMatchObject({
        exit: 4,
        stderr: expect.stringContaining(`${holds.url} seals under ${formerKid}`),
      });
    expect(await admin.run([...reseal, 'http://127.0.0.1:1'], asPromoted)).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('does not answer'),
    });
    const before = await admin.run([...reseal, seals.url], { ...asPromoted, screens: ['stderr'] });
    expect(before.stderr).toMatch(/resealing: 1 of 1/);
    const sealed = await world.query<{ text: string }>(sealedTexts);
    expect(sealed.map(({ text }) => sealedUnder(text))).toEqual([kid]);
    const { stdout } = await admin.run(['kek', 'list', owner, '--usage', '--json'], asPromoted);
    expect(JSON.parse(stdout).data).toMatchObject([
      { kid, use: 'seals', sealed: 1 },
      { use: 'opens', sealed: 0 },
    ]);
    const foreign = await admin.run(['kek', 'reseal', owner, '--unchecked', '--json'], {
      environment: { [variable]: former },
    });
    expect(foreign).toMatchObject({ exit: 4, stderr: expect.stringContaining('"partial"') });
    const lacking = await admin.run(['kek', 'list', owner, '--usage'], {
      environment: { [variable]: former },
    });
    expect(lacking).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(new RegExp(`${kid}\\s+missing`)),
      stderr: expect.stringContaining(`The ring lacks ${kid}`),
    });
    expect(await admin.run([...remove, seals.url], asPromoted)).toMatchObject({ exit: 0 });
    expect(await kidsOf(file('removed'))).toEqual([kid]);
  },
);

it('wraps the keys of a ring by the KMS that is configured, and unwraps them', async () => {
  const { admin, room } = world;
  // A KMS that gives back what it gets, as a transit engine does.
  const kms = await listen(async (request, response) => {
    const { plaintext, ciphertext } = (await json(request)) as Record<string, string>;
    response.end(JSON.stringify({ data: { plaintext: ciphertext, ciphertext: plaintext } }));
  });
  const kmsUrl = `${kms.url}/v1/transit/keys/kek`;
  const file = (step: string) => join(room.directory, `kms-${step}.json`);
  const textOf = (step: string) => readFile(file(step), 'utf8');
  const asked = (ring: string) => ({
    environment: { ORI_ADMIN_SIGNER_KMS_URL: kmsUrl, ORI_ADMIN_SIGNER_KEK_FILE: ring },
  });
  try {
    const wrap = ['kek', 'wrap', 'signer', world.kekFile, '--out', file('wrapped')];
    expect(await admin.run(wrap)).toMatchObject({ exit: 2, stderr: expect.stringContaining('KMS_URL') });
    expect(await admin.run(wrap, asked(world.kekFile))).toMatchObject({ exit: 0 });
    expect(await textOf('wrapped')).not.toContain('"k"');
    const list = await admin.run(['kek', 'list', 'signer', '--json'], asked(file('wrapped')));
    expect(JSON.parse(list.stdout).data).toHaveLength(1);
    const more = ['kek', 'generate', 'signer', '--add-to', file('wrapped'), '--out', file('more')];
    expect(await admin.run(more, asked(file('wrapped')))).toMatchObject({ exit: 0 });
    expect(JSON.parse(await textOf('more')).keys.map((key: object) => 'wrapped' in key)).toEqual([
      true,
      true,
    ]);
    const unwrap = ['kek', 'unwrap', 'signer', file('wrapped'), '--out', file('plain')];
    expect(await admin.run(unwrap, asked(file('wrapped')))).toMatchObject({ exit: 0 });
    expect(await textOf('plain')).toBe(await readFile(world.kekFile, 'utf8'));
  } finally {
    await kms.stop();
  }
  expect(await admin.run(['kek', 'list', 'signer'], asked(file('wrapped')))).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining('KMS'),
  });
});

it('checks an icon by its bytes', async () => {
  const { admin, room } = world;
  const png = join(room.directory, 'icon.txt');
  const svg = join(room.directory, 'icon.png');
  await writeFile(png, Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
  await writeFile(svg, '<svg xmlns="http://www.w3.org/2000/svg"/>');
  expect(await admin.json('intern', 'icon', made.intern, png)).toMatchObject({ media_type: 'image/png' });
  expect(await admin.run(['intern', 'icon', made.intern, svg])).toMatchObject({ exit: 2 });
});

it('disables a key, ends a membership, voids sessions, turns the switch, while a file moves the default', async () => {
  const { admin } = world;
  const create = ['key', 'create', '--kind', 'api', '--workspace', made.ws, '--name', 'gone'];
  const { hash } = await admin.json(...create);
  team = { id: made.org, name: 'Difference Engines' };
  await Promise.all([
    admin.get('key', 'disable', hash),
    admin.get('user', 'revoke-sessions', made.ada, '--yes'),
    apply({ name: 'Other', default: true }),
    admin.get('lifecycle', 'off'),
  ]);
  other = await admin.idOf('workspace', 'Other');
  await admin.get('member', 'remove', made.ws, made.ada);
  const keys = (await admin.json('key', 'list')).data as { hash: string; disabled_at: string | null }[];
  expect(keys.find((key) => key.hash === hash)?.disabled_at).not.toBeNull();
  expect((await admin.json('member', 'list')).data).toMatchObject([
    { user_id: made.ada, removed_at: expect.any(String) },
  ]);
  expect((await admin.json('user', 'list', '--user', made.ada)).data).toMatchObject([
    { sessions_valid_from: expect.any(Number) },
  ]);
  expect((await admin.json('org', 'list')).data).toMatchObject([
    { name: 'Difference Engines', workspaces: 2 },
  ]);
  expect(await admin.get('lifecycle', 'show')).toBe('off');
});

it.each([
  ['signing-key revoke', () => signingKey],
  ['byok delete', () => made.credential],
  ['intern delete', () => made.intern],
  ['user delete', () => made.ada],
  ['workspace delete', () => made.ws],
])('%s requires --yes and works once; then the id is unknown', async (command, idOf) => {
  const { admin } = world;
  if (command === 'signing-key revoke') signingKey = (await admin.json('signing-key', 'list')).data[0].id;
  const removal = [...command.split(' '), idOf()];
  expect(await admin.run(removal)).toMatchObject({ exit: 2, stderr: expect.stringContaining('--yes') });
  expect(await admin.run([...removal, '--yes'])).toMatchObject({ exit: 0 });
  expect(await admin.run([...removal, '--yes', '--json'])).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('"not_found"'),
  });
});

it('keeps an organization that is not empty, and lists deleted records', async () => {
  const { admin } = world;
  expect(await admin.run(['org', 'delete', made.org, '--yes'])).toMatchObject({ exit: 4 });
  expect((await admin.json('workspace', 'list')).data).toMatchObject([
    { id: made.ws, is_default: false, deleted_at: expect.any(String) },
    { id: other, is_default: true, deleted_at: null },
  ]);
});

it('replaces every key: revoked with --yes only, then rotated until none is left', async () => {
  const { admin } = world;
  await apply({ name: 'Other', interns: [{ name: 'last' }] });
  const intern = await admin.idOf('intern', 'last');
  const first = await admin.get('signing-key', 'add', intern);
  for (const wrong of [
    ['revoke', '--all'],
    ['revoke', '--all', '--yes', '--organization', made.org],
    ['revoke', first, '--all', '--yes'],
    ['revoke', '--before', '2026-01-31', '--yes'],
    ['rotate', intern, '--all'],
    ['rotate', '--due', '--all'],
  ]) {
    expect(await admin.run(['signing-key', ...wrong])).toMatchObject({ exit: 2 });
  }
  const { revoked, before } = await admin.json('signing-key', 'revoke', '--all', '--yes');
  expect(revoked).toBe(1);
  const rotate = () => admin.json('signing-key', 'rotate', '--organization', made.org, '--before', before);
  expect(await rotate()).toEqual({ rotated: 1, before, failed: [] });
  expect(await rotate()).toEqual({ rotated: 0, before, failed: [] });
});

it('exits with 6 if the database cannot be reached, and with 2 for a login without privileges', async () => {
  const { admin } = world;
  const away = { ORI_ADMIN_DATABASE_URL: `postgres://ori:canary@127.0.0.1:${await freePort()}/ori` };
  expect(await admin.run(['org', 'list'], { environment: away })).toMatchObject({ exit: 6 });
  const service = { ORI_ADMIN_DATABASE_URL: await world.createLogin('ori_signer') };
  expect(await admin.run(['org', 'list'], { environment: service })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('ori_operator'),
  });
});

it('tells who changed what, and after a restore what to take away again', async () => {
  const { admin, room, databaseUrl } = world;
  await apply({
    name: 'Other',
    members: [
      { subject: 'eve', name: 'Eve' },
      { subject: 'lost', name: 'Lost' },
    ],
  });
  const [eve, lost] = [await admin.idOf('user', 'Eve'), await admin.idOf('user', 'Lost')];
  await admin.get('user', 'disable', eve);
  const owner = new URL(databaseUrl).username;
  const { data } = await admin.json('audit', 'list', '--row', eve);
  expect(data).toMatchObject([
    { operation: 'update', actor: owner, break_glass: true, before: { disabled_at: null } },
    { operation: 'insert', after: { name: 'Eve' } },
  ]);
  await admin.get('user', 'disable', lost);
  const exported = join(room.directory, 'exported.jsonl');
  await writeFile(exported, (await admin.run(['audit', 'export'])).stdout);
  expect(await admin.run(['audit', 'compare', exported])).toMatchObject({ exit: 0, stdout: '' });
  // As if the database had been restored from before Eve was disabled and the other user was created.
  await admin.get('user', 'enable', eve);
  await world.query(`delete from users where id = '${lost}'`);
  await world.query('alter table admin_audit disable trigger append_only');
  await world.query(`delete from admin_audit where seq >= ${data[0].seq}`);
  await world.query('alter table admin_audit enable trigger append_only');
  expect(await admin.run(['audit', 'compare', exported])).toMatchObject({ exit: 4, stdout: '' });
  expect(await admin.run(['audit', 'reapply', exported])).toMatchObject({ exit: 2 });
  const reapply = async (flag: string) =>
    (await admin.run(['audit', 'reapply', exported, flag])).stdout.replaceAll(/ \d+ /g, ' ');
  expect(await reapply('--dry-run')).toBe(`lost user disable ${eve}\nlost user disable ${lost}\n`);
  expect((await admin.json('user', 'list', '--user', eve)).data[0].disabled_at).toBeNull();
  for (const _run of ['first', 'again'])
    expect(await reapply('--yes')).toBe(`done user disable ${eve}\nabsent user disable ${lost}\n`);
  expect((await admin.json('user', 'list', '--user', eve)).data[0].disabled_at).not.toBeNull();
  const asOther = await admin.run(['--actor', 'nobody_at_all', 'user', 'enable', eve]);
  expect(asOther).toMatchObject({ exit: 2, stderr: expect.stringContaining('not proven by the login') });
  const operator = { ORI_ADMIN_DATABASE_URL: await world.createLogin('ori_operator') };
  expect(await admin.run(['user', 'enable', eve], { environment: operator })).toMatchObject({ exit: 0 });
  const { data: since } = await admin.json('audit', 'list', '--row', eve, '--limit', '1');
  expect(since).toMatchObject([
    { actor: new URL(operator.ORI_ADMIN_DATABASE_URL).username, break_glass: false },
  ]);
});

it('prints hostile names and subjects on one line each, and repeats their removal', async () => {
  const { admin, room } = world;
  const values = HOSTILE.flatMap((text) => [text, `x${text}`]);
  expect(values.length).toBeGreaterThanOrEqual(50);
  const mallory = 'user_mallory';
  await world.query(`insert into users (id, name) values ('${mallory}', 'Mallory')`);
  // An operator may insert them by SQL.
  const quoted = values.map(
    (text) => `e'${[...Buffer.from(text)].map((b) => `\\x${b.toString(16).padStart(2, '0')}`).join('')}'`,
  );
  for (const [at, text] of quoted.entries()) {
    await world.query(`insert into users (id, name) values ('hostile_${at}', ${text})`);
    if (!/^[A-Za-z0-9][\w-]*$/.test(values[at] ?? '')) {
      const asId = world.query(`insert into users (id, name) values (${text}, 'x')`);
      await expect(asId).rejects.toMatchObject({ constraint: 'users_id_form' });
    }
    await world.query(
      `insert into user_subjects (issuer, subject, user_id) values ('https://a/ b', ${text}, '${mallory}')`,
    );
  }
  const [{ seq = 0 } = {}] = await world.query<{ seq: number }>(
    'select max(seq)::int as seq from admin_audit',
  );
  await world.query(`delete from user_subjects where user_id = '${mallory}'`);
  const exported = join(room.directory, 'hostile.jsonl');
  await writeFile(exported, (await admin.run(['audit', 'export'])).stdout);
  // As if the database had been restored from before the deletion.
  for (const text of quoted)
    await world.query(
      `insert into user_subjects (issuer, subject, user_id) values ('https://a/ b', ${text}, '${mallory}')`,
    );
  await world.query('alter table admin_audit disable trigger append_only');
  await world.query(`delete from admin_audit where seq > ${seq}`);
  await world.query('alter table admin_audit enable trigger append_only');

  const lines = async (...args: string[]) => {
    const { stdout, stderr } = await admin.run(args);
    expect(stdout + stderr).not.toMatch(/(?!\n|\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    return stdout.split('\n').length - 1;
  };
  expect(await lines('user', 'list')).toBe(1 + (await admin.json('user', 'list')).data.length);
  expect(await lines('audit', 'list', '--row', 'hostile_0')).toBe(2);
  await lines('audit', 'compare', exported);
  expect(await lines('audit', 'reapply', exported, '--dry-run')).toBe(values.length);
  expect((await admin.run(['audit', 'reapply', exported, '--yes'])).stdout.match(/^done /gm)).toHaveLength(
    values.length,
  );
  expect(await world.query(`select from user_subjects where user_id = '${mallory}'`)).toEqual([]);
});

it('wrote no secret except where requested', async () => {
  const managementKey = (await readFile(made.managementKeyFile, 'utf8')).trim();
  const written = world.admin.written();
  const password = new URL(world.databaseUrl).password;
  const kek = JSON.parse(await readFile(world.kekFile, 'utf8')).keys[0].k as string;
  for (const secret of [PROVIDER_KEY, 'canary', managementKey, kek, ...(password ? [password] : [])]) {
    expect(written).not.toContain(secret);
  }
});

/** Shell, SQL, option, newline, ANSI, bidi: what a name must not do where it is printed. */
const HOSTILE = [
  ...['$(touch /tmp/a)', '`id`', '; rm -rf .', '| sh', '&& id', '> /tmp/a', "'; id; '", '"; id; "', '\\'],
  ...['$HOME', '*', "' or 1=1 --", "'); drop table users; --", '-h', '--help', '--yes', '--', '-', '=1+1'],
  ...['#', '!!', '\n', '\r', '\r\nid', '\ndone 1 user disable x', '\t', '\u001b[31m', '\u001b]0;t\u0007'],
  ...['\u001b[2J', '\u0007', '\u0008', '\u009b31m', '\u202eevil', '\u2066x\u2069', '\u200b', '\u2028'],
  ...['\u2029', '\ufeff', ' ', '  a', 'a b', '\u007f'],
];

/** An ops port that reports the KEKs of its instance, of which the first seals. */
async function startInstance(kids: readonly string[]) {
  const use = (index: number) => (index === 0 ? 'seals' : 'opens');
  const lines = kids.map((kid, index) => `ori_kek{kid="${kid}",use="${use(index)}"} 1\n`);
  return await listen((_req, res) => res.end(lines.join('')));
}
