import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text as bodyOf } from 'node:stream/consumers';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { signIn } from '../../services/standalone/src/sign-in.ts';
import type { OriHome, OriResult } from './cli-process.ts';
import { type ApiRequest, listen, type Scripted, send, useCliWorld } from './cli-world.ts';

// Each file of `scripts/` is a test: commands as a person types them, and what they print.
//
//     # a comment; that of the first line names the test
//     api 403 www-authenticate: Bearer {"error":{}}    what the API answers next; `daemon` likewise, for $ECHO
//     write FILE TEXT, replace FILE FROM TO, remove FILE    in the home folder
//     $ NAME=value ori call x / < FILE    or sign-in, for which PERSON=grace is at the browser, or cat, or ls
//     output; `! ` before a line of stderr; `...` is anything; [4] at the end for an exit other than 0
//     asked api POST /v1/x...{"body":1}    what the last command asked the API or $ECHO, or `nothing`
//
// An empty line ends a command's output. Files follow at the end, each after `-- NAME --`. $API, $DAEMON, $ECHO, $ISSUER,
// $HOME and $TOKEN are values. `UPDATE_SCRIPTS=1 npx vitest run test/e2e/scripts.test.ts` writes what is printed now.

const FOLDER = new URL('scripts/', import.meta.url);
const UPDATES = process.env['UPDATE_SCRIPTS'] !== undefined;

const world = await useCliWorld();
const answers: Scripted[] = [];
const received: ApiRequest[] = [];
/** The daemon `$ECHO`. */
const echo = await listen(async (req, res) => {
  const { method = '', url = '', headers } = req;
  received.push({ method, url, headers, body: await bodyOf(req) });
  send(res, answers.shift() ?? { status: 200, body: { ok: true } });
});
afterAll(() => echo.stop());
const { accessToken } = await signIn({
  issuer: world.issuer,
  clientId: 'ori-cli',
  resource: world.baseUrl,
  user: 'ada',
  scope: 'openid vault:read',
});

// SPEC.md C5.
for (const file of (await readdir(FOLDER)).filter((name) => name.endsWith('.txt'))) {
  const whole = await readFile(new URL(file, FOLDER), 'utf8');
  it(`${file}: ${whole.slice(2, whole.indexOf('\n'))}`, async () => {
    const [script = '', ...files] = whole.split(/^-- (\S+) --\n/m);
    const home = await world.newHome();
    onTestFinished(() => home[Symbol.asyncDispose]());
    const values: Record<string, string> = {
      API: world.baseUrl,
      DAEMON: world.daemonUrl,
      ECHO: echo.url,
      ISSUER: world.issuer,
      HOME: home.folder,
      TOKEN: accessToken,
    };
    for (let at = 0; at < files.length; at += 2)
      await writeInto(join(home.folder, files[at] ?? ''), filled(files[at + 1] ?? '', values));
    for (const queue of [world.scripted, answers]) queue.length = 0;
    const done: string[] = [];
    for (const paragraph of script.trimEnd().split('\n\n'))
      done.push(await play(paragraph.split('\n'), home, values));
    if (!UPDATES) return expect(world.scripted.concat(answers), 'answers that nobody asked for').toEqual([]);
    await writeFile(new URL(file, FOLDER), [`${done.join('\n\n')}\n`, whole.slice(script.length)].join('\n'));
  });
}

/** Runs the lines of a paragraph. @returns them as they would be right */
async function play(
  lines: readonly string[],
  home: OriHome,
  values: Record<string, string>,
): Promise<string> {
  const right: string[] = [];
  const rest = [...lines];
  for (let line = rest.shift(); line !== undefined; line = rest.shift()) {
    right.push(line);
    const [verb = '', ...words] = wordsOf(line, values);
    if (verb === '#') continue;
    if (verb === 'api' || verb === 'daemon')
      (verb === 'api' ? world.scripted : answers).push(scriptedBy(filled(line, values)));
    else if (verb === 'write') await writeInto(join(home.folder, words[0] ?? ''), words.slice(1).join(' '));
    else if (verb === 'remove') await rm(join(home.folder, words[0] ?? ''), { recursive: true });
    else if (verb === 'replace')
      await replaceIn(join(home.folder, words[0] ?? ''), words[1] ?? '', words[2] ?? '');
    else if (verb === 'asked') {
      const of = words[0] === 'api' ? world.requests : received;
      const [, pattern = ''] = /^asked \S+ (.*)/.exec(filled(line, values)) ?? [];
      expect(pattern === 'nothing' ? of : of.splice(0).map(shown).join('\n'), line).toEqual(
        pattern === 'nothing' ? [] : expect.stringMatching(like(pattern, false)),
      );
    } else if (verb === '$') {
      for (const queue of [world.requests, received]) queue.length = 0;
      const end = rest.findIndex((next) => next.startsWith('asked '));
      const [told, wanted] = [await run(words, home), rest.splice(0, end === -1 ? rest.length : end)];
      const actual = linesOf(told, values);
      const pattern = filled(wanted.join('\n'), values);
      const got = filled(actual.join('\n'), values);
      if (like(pattern).test(got)) right.push(...wanted);
      else if (UPDATES) right.push(...actual);
      else expect(got, line).toBe(pattern);
    } else throw new Error(`a script has no line such as: ${line}`);
  }
  return right.join('\n');
}

async function run(words: readonly string[], home: OriHome): Promise<OriResult> {
  const env: Record<string, string> = {};
  let at = 0;
  for (; /^[A-Z_]+=/.test(words[at] ?? ''); at++) {
    const [name = '', ...value] = (words[at] ?? '').split('=');
    env[name] = value.join('=');
  }
  const { PERSON: user = 'ada', ...environment } = env;
  const [program, ...args] = words.slice(at);
  const from = args.indexOf('<');
  const stdin = from === -1 ? undefined : await readFile(join(home.folder, args.splice(from, 2)[1] ?? ''));
  const running = { env: environment, ...(stdin && { stdin }) };
  if (program === 'cat') return { exit: 0, stdout: await readFile(args[0] ?? '', 'utf8'), stderr: '' };
  if (program === 'ls') {
    const names = await readdir(args[0] ?? '').catch(() => []);
    return { exit: 0, stdout: names.map((name) => `${name}\n`).join(''), stderr: '' };
  }
  if (program === 'sign-in') {
    const { exit, stdout, stderr } = await world.signIn(home, { user, args, ...running });
    return { exit, stdout, stderr: exit === 0 ? '' : stderr };
  }
  return home.ori(args, running);
}

/** Output, `! ` before each line of stderr, and `[exit]` unless it is 0. */
function linesOf({ exit, stdout, stderr }: OriResult, values: Readonly<Record<string, string>>): string[] {
  const named = (output: string) => {
    // Ids of traces.
    let named = output.replaceAll(/\b[0-9a-f]{32}\b/g, '...');
    for (const [name, value] of Object.entries(values)) named = named.replaceAll(value, `$${name}`);
    return named === '' ? [] : named.replace(/\n$/, '').replaceAll('\n\n', '\n \n').split('\n');
  };
  const code = exit === 0 ? [] : [`[${exit}]`];
  return [...named(stdout), ...named(stderr).map((line) => `! ${line}`), ...code];
}

/** `...` stands for anything, across lines too. */
function like(pattern: string, isWhole = true): RegExp {
  const parts = pattern.split('...').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(isWhole ? `^${parts.join('[^]*')}$` : parts.join('[^]*'));
}

const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replaceAll(/\$([A-Z]+)/g, (whole, name) => values[name] ?? whole);

/** The words of a line as in a shell, without its expansions but for `$NAME`. */
function wordsOf(line: string, values: Readonly<Record<string, string>>): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"|([^'"]+)/g,
      (_, literal, quoted, bare) => literal ?? filled(quoted ?? bare ?? '', values),
    ),
  );
}

/** `api STATUS [NAME: VALUE; …] [JSON]` */
function scriptedBy(line: string): Scripted {
  const [, status, named = '', body] = /^\S+ (\d+) ?((?:[\w-]+: [^;{]*;? ?)*)(\S.*)?$/.exec(line) ?? [];
  const headers = named.split(';').flatMap((header) => {
    const [name = '', ...value] = header.trim().split(': ');
    return name === '' ? [] : [[name, value.join(': ')] as const];
  });
  return {
    status: Number(status),
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body: JSON.parse(body) }),
  };
}

const shown = ({ method, url, headers, body }: ApiRequest) =>
  [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), body].join(
    '\n',
  );

async function writeInto(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content, { mode: 0o600 });
}

async function replaceIn(file: string, from: string, to: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(from, to));
}
