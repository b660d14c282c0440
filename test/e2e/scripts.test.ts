import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text as bodyOf } from 'node:stream/consumers';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { walkThrough } from '../../services/standalone/src/person.ts';
import { signIn } from '../../services/standalone/src/sign-in.ts';
import { filled, like, named } from '../env/script.ts';
import type { OriHome, OriResult } from './cli-process.ts';
import { startScriptedIssuer } from './cli-scripted-issuer.ts';
import { type ApiRequest, listen, type Scripted, send, useCliWorld } from './cli-world.ts';

// Each file of `scripts/` is a test: commands as a person types them, and what they print.
//
//     # a comment; that of the first line names the test
//     api 403 www-authenticate: Bearer {"error":{}}    what the API answers next; `daemon` likewise, for $ECHO
//     document {"resource":"…"}    members that the API's document has from now on; `session` likewise
//     issuer metadata {"issuer":"…"}    of the scripted issuer, here and below; "absent" leaves a member out
//     issuer tokenAnswers 400 {"error":"x"}    its next answer
//     write FILE TEXT, replace FILE FROM TO, remove FILE, chmod 644 FILE    in the home folder
//     $ NAME=value ori call x / < FILE    or sign-in, of which only a failure is told, or cat, or ls. PERSON=grace is at the
//         browser, PERSON= is nobody, REDIRECT={"iss":"…"} changes what comes back from the scripted issuer
//     output; `! ` before a line of stderr; `...` is anything; [4] at the end for an exit other than 0
//     asked api POST /v1/x...{"body":1}    what the last command asked the API, $ECHO, the `issuer` (`page`,
//         `revocations`), `nothing`, or `not …`; a new $NAME is the word that stands there, from then on
//
// An empty line ends a command's output. Files follow at the end, each after `-- NAME --`. $API, $DAEMON, $ECHO, $ISSUER,
// $PORT, $SCRIPTED, $SOON, $AGO, $LATER, $HOME and $TOKEN are values. `UPDATE_SCRIPTS=1 npx vitest run test/e2e/scripts.test.ts` writes what is printed now.

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
const usual = world.metadata;
const issuer = await startScriptedIssuer();
const { deviceAnswer } = issuer;
afterAll(() => issuer[Symbol.asyncDispose]());
/** Where the browser was led. */
const pages: string[] = [];
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
      SCRIPTED: issuer.url,
      PORT: new URL(echo.url).port,
      SOON: String(Math.floor(Date.now() / 1000) + 20),
      AGO: String(Math.floor(Date.now() / 1000) - 30),
      LATER: String(Math.floor(Date.now() / 1000) + 3600),
      HOME: home.folder,
      TOKEN: accessToken,
    };
    for (let at = 0; at < files.length; at += 2)
      await writeInto(join(home.folder, files[at] ?? ''), filled(files[at + 1] ?? '', values));
    for (const queue of [world.scripted, answers, issuer.tokenAnswers]) queue.length = 0;
    world.metadata = usual;
    Object.assign(issuer, { metadata: {}, tokenMembers: {}, idToken: {}, deviceAnswer });
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
    else if (verb === 'chmod')
      await chmod(join(home.folder, words[1] ?? ''), Number.parseInt(words[0] ?? '', 8));
    else if (verb === 'remove') await rm(join(home.folder, words[0] ?? ''), { recursive: true });
    else if (verb === 'replace')
      await replaceIn(join(home.folder, words[0] ?? ''), words[1] ?? '', words[2] ?? '');
    else if (verb === 'document') world.metadata = { ...usual, ...jsonIn(line, values) };
    else if (verb === 'session') await home.changeSession(jsonIn(line, values));
    else if (verb === 'issuer') {
      const name = words[0] as 'metadata' | 'tokenAnswers';
      if (/Answers$/.test(name))
        issuer[name as 'tokenAnswers'].push(scriptedBy(filled(line.slice(7), values)));
      else
        issuer[name as 'metadata'] = {
          ...(words[0] === 'deviceAnswer' && deviceAnswer),
          ...jsonIn(line, values),
        };
    } else if (verb === 'asked') {
      const [, of = '', pattern = ''] = /^asked (\S+) (.*)/.exec(filled(line, values)) ?? [];
      const told = askedOf(of);
      if (pattern.startsWith('not ')) expect(told, line).not.toMatch(like(pattern.slice(4), false));
      else {
        const wanted = pattern === 'nothing' ? /^$/ : like(pattern, false);
        expect(told, line).toMatch(wanted);
        Object.assign(values, wanted.exec(told)?.groups);
      }
    } else if (verb === '$') {
      for (const queue of [world.requests, received, issuer.tokenRequests, issuer.revocations, pages])
        queue.length = 0;
      const end = rest.findIndex((next) => next.startsWith('asked '));
      const [told, wanted] = [await run(words, home), rest.splice(0, end === -1 ? rest.length : end)];
      const actual = linesOf(told, values);
      const pattern = filled(wanted.join('\n'), values);
      const got = filled(actual.join('\n'), values);
      if (like(pattern).test(got)) right.push(...wanted);
      else if (UPDATES) right.push(...actual.map((one) => one.replaceAll(/\b[0-9a-f]{32}\b/g, '...')));
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
  const { PERSON: user = 'ada', REDIRECT: redirect = '{}', ...environment } = env;
  const [program, ...args] = words.slice(at);
  const from = args.indexOf('<');
  const stdin = from === -1 ? undefined : await readFile(join(home.folder, args.splice(from, 2)[1] ?? ''));
  const running = { env: environment, ...(stdin && { stdin }) };
  if (program === 'cat') return { exit: 0, stdout: await readFile(args[0] ?? '', 'utf8'), stderr: '' };
  if (program === 'ls') {
    const names = await readdir(args[0] ?? '').catch(() => []);
    return { exit: 0, stdout: names.map((name) => `${name}\n`).join(''), stderr: '' };
  }
  const isSignIn = program === 'sign-in';
  const ori = home.begin(isSignIn ? ['login', '--no-browser', ...args] : args, running);
  if (isSignIn || args[0] === 'login') {
    const page = await ori.told(/sign in:\n {2}(\S+)\n/).then(
      ([, shown = '']) => shown,
      () => '',
    );
    if (page !== '') pages.push(page);
    if (page.startsWith(issuer.url) && user !== '')
      await fetch(issuer.redirectOf(page, absent(JSON.parse(redirect))));
    else if (page !== '' && user !== '') await fetch(String(await walkThrough(new URL(page), { user })));
  }
  const { exit, stdout, stderr } = await ori.result;
  if (isSignIn) return { exit, stdout, stderr: exit === 0 ? '' : stderr.slice(stderr.indexOf('ori: ')) };
  return { exit, stdout, stderr: stderr.replace(/ {2}\S+authorize\?\S+/, '  ...') };
}

/** What came to the API, to $ECHO, to the issuer's endpoints, or what a page was asked for. */
function askedOf(name: string): string {
  const parameters = (all: Iterable<readonly string[]>) => [...all].map((pair) => pair.join('=')).join('\n');
  if (name === 'page') return pages.map((page) => parameters(new URL(page).searchParams)).join('\n');
  if (name === 'issuer') return issuer.tokenRequests.map(({ form }) => parameters(form)).join('\n');
  if (name === 'revocations')
    return issuer.revocations.map((form) => parameters(Object.entries(form))).join('\n');
  return (name === 'api' ? world.requests : received).map(shown).join('\n');
}

/** The object at the end of a line. */
const jsonIn = (line: string, values: Readonly<Record<string, string>>) =>
  absent(JSON.parse(filled(line.slice(line.indexOf('{')), values)));

/** JSON has no undefined: "absent". */
const absent = (value: Record<string, unknown>): Record<string, undefined> =>
  Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      one === 'absent'
        ? undefined
        : Object.prototype.toString.call(one) === '[object Object]'
          ? absent(one as Record<string, unknown>)
          : one,
    ]),
  ) as Record<string, undefined>;

/** Output, `! ` before each line of stderr, and `[exit]` unless it is 0. */
function linesOf({ exit, stdout, stderr }: OriResult, values: Readonly<Record<string, string>>): string[] {
  const lines = (output: string) => {
    const told = named(output, values);
    return told === '' ? [] : told.replace(/\n$/, '').replaceAll('\n\n', '\n \n').split('\n');
  };
  const code = exit === 0 ? [] : [`[${exit}]`];
  return [...lines(stdout), ...lines(stderr).map((line) => `! ${line}`), ...code];
}

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
