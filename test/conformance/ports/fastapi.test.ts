import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { codeOf, createBench, GOOD } from '../daemon/bench.ts';
import { startKeyServer } from '../daemon/key-server.ts';
import { installPython } from './python-environment.ts';

const PORT = join(import.meta.dirname, 'python');
const PYTHON = installPython();
const blocksOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/```python\n(.*?)```/gs)].map(([, code = '']) => code);
const [GUARDED = '', TESTED = ''] = blocksOf(join(PORT, 'README.md'));
const [DAEMON = ''] = blocksOf(join(import.meta.dirname, '../../../README.md'));

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

const environment = { ...process.env, PYTHONPATH: PORT, PYTHONDONTWRITEBYTECODE: '1' };

/** Runs an application under uvicorn. */
async function serve(code: string): Promise<{ url: URL; log: () => string }> {
  const program = spawn(PYTHON ?? '', [join(folderWith(code + SERVE), 'main.py')], { env: environment });
  onTestFinished(() => void program.kill());
  let log = '';
  program.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const [line] = await once(createInterface({ input: program.stdout }), 'line');
  return { url: new URL(`http://127.0.0.1:${String(line).split(' ')[1]}`), log: () => log };
}

describe.skipIf(PYTHON === undefined)('the FastAPI daemons of README.md and ports/python/README.md', () => {
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
      execFileSync(PYTHON ?? '', args, { cwd: folder, env: environment, encoding: 'utf8', stdio: 'pipe' });
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
    const code = DAEMON.replace(/https:[^"]+/, keys.url).replace('MemoryStore())', 'store)');
    const early = 'store = MemoryStore()\nstore.fence -= 1000\n';
    const app = code.replace('app = FastAPI()', `from fastapi import Request\n${early}app = FastAPI()`);
    const { url, log } = await serve(app + reading);
    const bench = createBench(
      { url, keys },
      { internId: 'int_7Qm2', path: '/api/invoke', bodyBytesMax: 1e6 },
      [],
    );
    const request = bench.request();
    const sendIt = () => bench.tell({ headers: () => request.headers });
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

  test.each([
    ['require_proof(verifier, app)', 'expected the FastAPI application, then the Verifier'],
    ['Verifier("int_1", "https://api.example", MemoryStore())', 'expected keys, as RemoteKeys(url)'],
    ['Verifier("int_1", LocalKeys([]), MemoryStore)', 'and a store, as MemoryStore()'],
    ...[
      '{"x": ""}',
      '[{"kty": "OKP", "crv": "X25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]',
    ].map((roots) => [
      `RemoteKeys("https://a.example/interns/i/daemon/jwks.json", ${roots})`,
      'expected a list of public JWKs',
    ]),
    ['RemoteKeys("http://127.0.0.1:1/").current()', 'the keys were not taken'],
    ['import os; os.environ["WEB_CONCURRENCY"] = "2"; MemoryStore()', 'expected WEB_CONCURRENCY=1'],
  ])('%s says: %s', (call, words) => {
    const code = `
from fastapi import FastAPI
from fastapi_proof import require_proof
from oriproof import LocalKeys, MemoryStore, RemoteKeys, Verifier
app, verifier = FastAPI(), Verifier("int_1", LocalKeys([]), MemoryStore())
${call}
`;
    const { status, stderr } = spawnSync(PYTHON ?? '', ['-c', code], { env: environment, encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining(words)]);
  });

  test('keys of this machine are fetched past a proxy of the environment', async () => {
    await using keyServer = await startKeyServer();
    await using proxyServer = await startKeyServer();
    const [keys, proxy] = [keyServer.open(GOOD), proxyServer.open({ body: '{"keys":[]}' })];
    const program = `import sys, oriproof; print(len(oriproof.RemoteKeys(sys.argv[1]).current()))`;
    const env = { ...environment, http_proxy: proxy.url, no_proxy: '' };
    const { stdout } = await promisify(execFile)(PYTHON ?? '', ['-c', program, keys.url], { env });
    expect(stdout).toBe('1\n');
  });

  test('a process forked with an empty store refuses what its parent or a sibling may have accepted', () => {
    const program = `
import os
from oriproof import Refused
from oriproof_testing import TestSigner
signer = TestSigner("int_7Qm2")
verifier = signer.verifier()
headers = signer.headers("user_1", "/", b"")

def call():
    try:
        return verifier.begin("POST", "/", headers.items()).finish()["user"]
    except Refused as refused:
        return refused.code

print(os.fork() and os.wait() and call() or call(), flush=True)
`;
    const said = execFileSync(PYTHON ?? '', ['-c', program], { env: environment, encoding: 'utf8' });
    expect(said).toBe('proof_before_fence\nuser_1\n');
  });

  test('its own test accepts a call once, with the signer for tests', () => {
    const folder = folderWith(`${TESTED}\ntest_accepts_a_call_once()\n`);
    execFileSync(PYTHON ?? '', [join(folder, 'main.py')], { env: environment });
  });
});

test.skipIf(PYTHON === undefined).each([
  ['mypy', ['--strict', '.']],
  ['ruff', ['check', '.']],
  ['ruff', ['format', '--check', '.']],
])('%s %j has nothing to say about the port in Python', (program, args) => {
  execFileSync(PYTHON ?? '', ['-m', program, ...args], { cwd: PORT, env: environment, encoding: 'utf8' });
});
