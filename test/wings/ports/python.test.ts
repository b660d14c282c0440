import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packPython } from '../../../deploy/package/pack-python.ts';
import { POSTGRES_REPLAY_SQL } from '../../../libs/public/verifier/src/replay/postgres/schema.ts';
import { codeOf, createBench, GOOD } from '../../conformance/daemon/bench.ts';
import { startKeyServer } from '../../conformance/daemon/key-server.ts';
import { installPython } from './python-environment.ts';

const PROGRAMS = join(import.meta.dirname, 'python');
const PACKAGE = join(import.meta.dirname, '../../../libs/public/python');
const PYTHON = installPython();
/** Calls to a daemon with README's route: one of them, each time the same. */
function callsTo(url: URL, keys: Parameters<typeof createBench>[0]['keys']) {
  const bench = createBench(
    { url, keys },
    { internId: 'int_7Qm2', path: '/api/invoke', bodyBytesMax: 1e6 },
    [],
  );
  const request = bench.request();
  return { bench, sendIt: () => bench.tell({ headers: () => request.headers }) };
}

/** Where the wheel is installed. */
let site = '';
beforeAll(async () => {
  if (PYTHON === undefined) return;
  site = mkdtempSync(join(tmpdir(), 'ori-site-'));
  const [wheel = ''] = await packPython(site, PYTHON);
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', '--target', site, wheel];
  execFileSync(PYTHON, install, { stdio: 'pipe' });
});
afterAll(() => rmSync(site, { recursive: true, force: true }));
const ROOT = join(import.meta.dirname, '../../..');
const blocksOf = (page: string): string[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```python\n(.*?)```/gs)].map(([, code = '']) => code);
const [DAEMON = ''] = blocksOf('README.md');
const [GUARDED = ''] = blocksOf('services/guard/README.md');
// mcp_session.py runs the second.
const [FLASK = '', , OUTCOME, ROOTED, REDIS, POSTGRES, ANSWERS, PROVEN, TESTED = '', ...OTHERS] = blocksOf(
  'libs/public/verifier/README.md',
);

const SERVE = `
if __name__ == "__main__":
    import socket, uvicorn
    listening = socket.create_server(("127.0.0.1", 0))
    print("port", listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
`;

function folderWith(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ori-fastapi-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.py'), code);
  return folder;
}

const environment = () => ({ ...process.env, PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: '1' });

/** Runs an application under uvicorn. */
async function serve(code: string): Promise<{ url: URL; log: () => string }> {
  const program = spawn(PYTHON ?? '', [join(folderWith(code + SERVE), 'main.py')], { env: environment() });
  onTestFinished(() => void program.kill());
  let log = '';
  program.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const [line] = await once(createInterface({ input: program.stdout }), 'line');
  return { url: new URL(`http://127.0.0.1:${String(line).split(' ')[1]}`), log: () => log };
}

describe.skipIf(PYTHON === undefined)('the Python package, installed from its wheel', () => {
  test('the one behind the guard reads the person from its header', async () => {
    const { url } = await serve(GUARDED);
    const headers = { 'content-type': 'application/json', 'x-ori-verified-user': 'user_1' };
    const answer = await fetch(new URL('/api/invoke', url), {
      method: 'POST',
      headers,
      body: '{"prompt":"hi"}',
    });
    expect(await answer.json()).toEqual({ user: 'user_1', prompt: 'hi' });
  });

  test('a view of a new Django project reads it too, with csrf_exempt and ALLOWED_HOSTS', () => {
    const folder = folderWith(`
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "new.settings"
import django
django.setup()
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
def view(request): return HttpResponse(request.headers["X-Ori-Verified-User"])
urlpatterns = [path("plain", view), path("exempt", csrf_exempt(view))]
settings.ROOT_URLCONF = "__main__"
headers = {"X-Ori-Verified-User": "user_1", "Host": "daemon.example"}
post = lambda at: Client(enforce_csrf_checks=True).post(at, b"{}", content_type="application/json", headers=headers)
print(post("/exempt").status_code)
settings.ALLOWED_HOSTS = ["daemon.example"]
print(post("/plain").status_code, post("/exempt").content.decode())
`);
    const run = (...args: string[]) =>
      execFileSync(PYTHON ?? '', args, { cwd: folder, env: environment(), encoding: 'utf8', stdio: 'pipe' });
    run('-m', 'django', 'startproject', 'new', '.');
    expect(run('main.py')).toBe('400\n403 user_1\n');
  });

  test('the one with the dependency accepts a call once, and refuses a body that was read before', async () => {
    await using keyServer = await startKeyServer();
    const keys = keyServer.open(GOOD);
    const reading = `
@app.post("/api/reads")
def reads(payload: Invoke, proven: Proven = Depends(caller)) -> dict[str, str]:
    return {"user": proven.user}


@app.middleware("http")
async def streams(request: Request, call_next):
    if request.url.path == "/api/streamed":
        async for _ in request.stream():
            pass
    return await call_next(request)


@app.post("/api/streamed")
def streamed(proven: Proven = Depends(caller)) -> None:
    pass


@app.post("/api/reads-after")
async def reads_after(request: Request, proven: Proven = Depends(caller)) -> list[object]:
    return [await request.json(), (await request.body()).decode()]
`;
    const code = DAEMON.replace(/https:[^"]+/, keys.url).replace('MemoryStore())', 'TestStore())');
    const imports = 'from fastapi import Request\nfrom ori_proof.testing import TestStore\n';
    const { url, log } = await serve(imports + code + reading);
    const { bench, sendIt } = callsTo(url, keys);
    const first = await sendIt();
    expect([first.status, JSON.parse(first.body)]).toEqual([200, { user: 'user_2abc', prompt: 'hello' }]);
    const second = await sendIt();
    expect([second.status, codeOf(second)]).toEqual([401, 'nonce_replayed']);
    expect(second.headers.get('www-authenticate')).toBe('Ori-Proof');
    const unlike = await bench.tell({ claim: { body: Buffer.from('{"promt":1}') } });
    expect([unlike.status, JSON.parse(unlike.body).detail[0].loc]).toEqual([422, ['prompt']]);
    const read = await bench.tell({ claim: { path: '/api/reads' } });
    expect(read.status).toBe(500);
    expect(read.milliseconds).toBeLessThan(10_000);
    await expect.poll(log).toContain('the body was read before its proof was judged');
    const after = await bench.tell({ claim: { path: '/api/reads-after', body: Buffer.from('{"a": 1}') } });
    expect([after.status, JSON.parse(after.body)]).toEqual([200, [{ a: 1 }, '{"a": 1}']]);
    const streamed = await bench.tell({ claim: { path: '/api/streamed' } });
    expect([streamed.status, codeOf(streamed)]).toEqual([400, 'body_incomplete']);
    expect(log()).toContain('no root is pinned');
  });

  test('keys of this machine are fetched past a proxy of the environment', async () => {
    await using keyServer = await startKeyServer();
    await using proxyServer = await startKeyServer();
    const [keys, proxy] = [keyServer.open(GOOD), proxyServer.open({ body: '{"keys":[]}' })];
    const program = `import sys, ori_proof; print(len(ori_proof.RemoteKeys(sys.argv[1]).current()))`;
    const env = { ...environment(), http_proxy: proxy.url, no_proxy: '' };
    const { stdout } = await promisify(execFile)(PYTHON ?? '', ['-c', program, keys.url], { env });
    expect(stdout).toBe('1\n');
  });

  test('of two workers of a server one accepts with a memory store, and the other says why not', async () => {
    await using keyServer = await startKeyServer();
    const keys = keyServer.open(GOOD);
    const cwd = folderWith(DAEMON.replace(/https:[^"]+/, keys.url));
    // uvicorn ends a worker that takes 5 s to start.
    const patience = ['--timeout-worker-healthcheck', '60'];
    const args = ['-m', 'uvicorn', 'main:app', '--port', '0', '--workers', '2', ...patience];
    const program = spawn(PYTHON ?? '', args, { cwd, env: environment() });
    onTestFinished(() => void program.kill());
    let said = '';
    program.stderr.on('data', (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toContain('another worker of this server has one');
    const [, port] = /running on http:..127.0.0.1:(\d+)/.exec(said) ?? [];
    const url = new URL(`http://127.0.0.1:${port}`);
    const accepts = async () => (await callsTo(url, keys).sendIt()).status;
    await expect.poll(accepts, { timeout: 60_000 }).toBe(200);
    const { sendIt } = callsTo(url, keys);
    const codes: (string | undefined)[] = [];
    const present = async () => {
      const answer = await sendIt();
      codes.push(answer.status === 200 ? 'accepted' : codeOf(answer));
      return codes;
    };
    // Until both workers have been asked.
    const both = expect.arrayContaining(['nonce_replayed', 'replay_store_unsafe']);
    await expect.poll(present, { timeout: 60_000, interval: 10 }).toEqual(both);
    expect(codes.filter((code) => code === 'accepted').length).toBeLessThan(2);
  });

  test('the tests of the package pass', () => {
    const run = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', join(PACKAGE, 'tests')];
    const { status, stdout } = spawnSync(PYTHON ?? '', run, { env: environment(), encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining(' passed')]);
  });

  test('the stores and the options of the pages are made, answers are kept, and the schema is printed', () => {
    expect(OTHERS).toEqual([]);
    const program = `
import logging, os
from pathlib import Path
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient
from ori_proof import LocalKeys, RemoteKeys, Verifier
from ori_proof.answer_proof import AnswerKey
from ori_proof.answers import AnswersOptions
from ori_proof.fastapi import Proven, require_proof
from ori_proof.testing import TestSigner, TestStore
log = logging.getLogger()
Path("key").write_text("A" * 43)
os.environ["ANSWER_KEY_FILE"] = "key"
${ROOTED}${REDIS}${POSTGRES}${PROVEN}
signer, store, told, app = TestSigner("int_7Qm2"), TestStore(), [], FastAPI()
keys = LocalKeys(signer.jwks())
log.info = lambda form, *values: told.append(form % values)
${OUTCOME}
@app.post("/api/outcome")
def outcome(proven: Proven = Depends(require_proof(verifier))): pass
signer.post(TestClient(app), "/api/outcome", {})
assert told == ["accepted /api/outcome"], told
app = FastAPI()
${ANSWERS}
@app.post("/api/invoke")
def invoke(proven: Proven = Depends(require_proof(verifier))): return proven.user
client, headers = TestClient(app), signer.headers("ada", "/api/invoke", b"{}")
assert client.post("/api/invoke", content=b"{}", headers=headers).json() == "ada"
question = "/.well-known/ori/calls/" + headers["x-ori-invoke-nonce"]
kept = signer.post(client, question, b"", user="ada")
assert (kept.json(), kept.headers["ori-answer"]) == ("ada", "kept")
`;
    const folder = folderWith(program);
    execFileSync(PYTHON ?? '', ['main.py'], { cwd: folder, env: environment(), stdio: 'pipe' });
    const printed = execFileSync(PYTHON ?? '', ['-m', 'ori_proof.postgres'], {
      env: environment(),
      encoding: 'utf8',
    });
    expect(printed.trim()).toBe(POSTGRES_REPLAY_SQL.trim());
  });

  test('the hostile calls of the page pass at a daemon that verifies, and not at one that checks nothing', () => {
    const run = (parameters: string) => {
      const daemon = `
from fastapi import Depends, FastAPI
from ori_proof.fastapi import Proven, require_proof
def create_app(verifier):
    app = FastAPI()
    @app.post("/api/invoke")
    def invoke(${parameters}): pass
    return app
`;
      const file = join(folderWith(daemon + TESTED), 'main.py');
      return spawnSync(PYTHON ?? '', [file], { env: environment(), encoding: 'utf8' });
    };
    expect(run('proven: Proven = Depends(require_proof(verifier))')).toMatchObject({ status: 0 });
    expect(run('').stderr).toContain('AssertionError: a right proof again');
  });

  test('the one with Flask accepts a call once under gunicorn', async () => {
    await using keyServer = await startKeyServer();
    const keys = keyServer.open(GOOD);
    const code = FLASK.replace(/https:[^"]+/, keys.url).replace('MemoryStore())', 'TestStore())');
    const cwd = folderWith(`from ori_proof.testing import TestStore\n${code}`);
    const args = ['-m', 'gunicorn', '--bind', '127.0.0.1:0', 'main:app'];
    const program = spawn(PYTHON ?? '', args, { cwd, env: environment() });
    onTestFinished(() => void program.kill());
    const lines = createInterface({ input: program.stderr });
    let port: string | undefined;
    for await (const line of lines) {
      port ??= /Listening at: http:..127.0.0.1:(\d+)/.exec(line)?.[1];
      if (line.includes('Booting worker')) break;
    }
    const url = new URL(`http://127.0.0.1:${port}`);
    const { sendIt } = callsTo(url, keys);
    const first = await sendIt();
    expect([first.status, JSON.parse(first.body)]).toEqual([200, { user: 'user_2abc' }]);
    expect(codeOf(await sendIt())).toBe('nonce_replayed');
  });
});

test.skipIf(PYTHON === undefined).each([
  ['mypy', ['--strict', '.', PROGRAMS]],
  ['ruff', ['check', '.', PROGRAMS]],
  ['ruff', ['format', '--check', '.', PROGRAMS]],
])('%s %j has nothing to say about the package and the daemons', (program, args) => {
  execFileSync(PYTHON ?? '', ['-m', program, ...args], {
    cwd: PACKAGE,
    env: environment(),
    encoding: 'utf8',
  });
});

test.skipIf(PYTHON === undefined).each([
  ['lab/bench/sides/verify.py', '2', '5'],
  ['wings/bench/fastapi_load.py', '5'],
])('%s of the benchmark prints its figures', (program, ...args) => {
  const file = join(ROOT, 'test', program);
  const figures = JSON.parse(
    execFileSync(PYTHON ?? '', [file, ...args], { encoding: 'utf8', stdio: 'pipe' }),
  );
  expect(figures.length).toBeGreaterThan(1);
});
