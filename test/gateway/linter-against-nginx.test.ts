import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeGateway } from '../../services/ori/src/gateway-lint/judge.ts';
import { readConfiguration } from '../../services/ori/src/gateway-lint/nginx/files.ts';
import { NGINX, startDaemonGateway } from '../env/gateway.ts';
import { openRoom } from '../env/room.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { type JudgingDaemon, startJudgingDaemon } from './judging-daemon.ts';

const PATHS = ['/api/invoke', '/api//invoke/./%41/%2e%2e/|x', '/'];
const BODY = '{"prompt":"hello"}';
const STRIPPED = 'proxy_set_header X-Ori-Invoke-Signature ""; proxy_set_header X-Ori-Invoke-Signature-V2 "";';

/** Servers without a finding, although each contains a construct that is a finding elsewhere. */
const GOOD: Readonly<Record<string, string>> = {
  'nothing but proxy_pass': 'location / { proxy_pass http://daemons; }',
  'the raw target': 'location / { proxy_pass http://daemons$request_uri; }',
  'slashes merged, for locations only': 'merge_slashes on; location / { proxy_pass http://daemons; }',
  'a rewrite before the raw target':
    'rewrite ^/(.*)$ /inner/$1 last; location /inner/ { internal; proxy_pass http://daemons$request_uri; }',
  'a query set before the raw target': 'set $args a=1; location / { proxy_pass http://daemons$request_uri; }',
  'a variable that set fills': 'set $up daemons; location / { proxy_pass http://$up; }',
  'try_files on to a name': 'location / { try_files /none @up; } location @up { proxy_pass http://daemons; }',
  'an error page by name, before anything was sent':
    'location / { return 418; error_page 418 = @up; } location @up { proxy_pass http://daemons; }',
  'a redirect of others':
    'location / { proxy_pass http://daemons; if ($host = other) { rewrite ^ /x permanent; } }',
  'the method set to itself': 'location / { proxy_method $request_method; proxy_pass http://daemons; }',
  'headers of its own':
    'location / { proxy_set_header Host $host; proxy_set_header Connection ""; proxy_http_version 1.1; proxy_pass http://daemons; }',
  'no buffering':
    'location / { proxy_request_buffering off; proxy_http_version 1.1; proxy_pass http://daemons; }',
  'a mirror without the proof': `location / { mirror /copy; proxy_pass http://daemons; }
    location = /copy { internal; ${STRIPPED} proxy_pass http://daemons; }`,
  'an authorization without the proof': `location / { auth_request /auth; proxy_pass http://daemons; }
    location = /auth { internal; ${STRIPPED} proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_pass http://authorizer/; }`,
  'what is sent again only where nothing was sent':
    'location / { proxy_next_upstream error timeout http_503; proxy_pass http://daemons; }',
  'a cache that POST does not reach':
    'location / { proxy_cache answers; proxy_cache_valid 1h; proxy_pass http://daemons; }',
};

describe.skipIf(NGINX === undefined)('the linter’s findings match nginx’s behaviour', () => {
  let daemon: JudgingDaemon;
  let authorized: IncomingMessage['headers'][] = [];
  const authorizer = createServer((req, res) => {
    authorized.push(req.headers);
    res.writeHead(204).end();
  });
  beforeAll(async () => {
    daemon = await startJudgingDaemon();
    await new Promise<void>((resolve) => authorizer.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    authorizer.closeAllConnections();
    authorizer.close();
    await daemon?.[Symbol.asyncDispose]();
  });

  /** Starts nginx with this server configuration. */
  async function start(server: string) {
    await using room = await openRoom('ori-good-gateway');
    const configuration = join(room.directory, 'good.conf');
    await writeFile(configuration, configurationOf(server, (authorizer.address() as AddressInfo).port));
    const { directives } = await readConfiguration(configuration, { skipMissing: true });
    const rules = judgeGateway(directives).findings.map(({ rule }) => rule);
    return { rules, gateway: await startDaemonGateway({ daemons: [daemon.address], configuration }) };
  }

  async function call(port: number, path: string) {
    const proof = [
      ...Object.entries(daemon.signer.sign({ path, body: BODY })),
      ['Content-Type', 'application/json'],
    ];
    return askRaw(port, requestBytes(`POST ${path} HTTP/1.1`, proof as [string, string][], BODY));
  }

  it.each(Object.entries(GOOD))('no finding, and proofs pass: %s', async (_what, server) => {
    const started = await start(server);
    await using gateway = started.gateway;
    expect(started.rules).toEqual([]);
    for (const path of PATHS) {
      await call(gateway.port, path);
      const accepted = daemon.takeArrivals().filter(({ verdict }) => verdict === 'accepted');
      expect(accepted.map(({ method, target }) => [method, target])).toEqual([['POST', path]]);
    }
  });

  it('answer-cached: a call is answered without a daemon', async () => {
    const { rules, gateway } = await start(
      'location / { proxy_cache answers; proxy_cache_methods POST; proxy_cache_valid 1h; proxy_pass http://daemons; }',
    );
    await using _ = gateway;
    expect(rules).toEqual(['answer-cached']);
    await call(gateway.port, '/api/invoke');
    expect(daemon.takeArrivals()).toHaveLength(1);
    expect(await askRaw(gateway.port, requestBytes('POST /api/invoke HTTP/1.1', [], 'x'))).toMatchObject({
      status: 200,
    });
    expect(daemon.takeArrivals()).toEqual([]);
  });

  it('error-page-passed-on: a refused call is sent again as a GET', async () => {
    const { rules, gateway } = await start(
      'location / { proxy_pass http://daemons; proxy_intercept_errors on; error_page 401 /sorry; }',
    );
    await using _ = gateway;
    expect(rules).toEqual(['error-page-passed-on']);
    await askRaw(gateway.port, requestBytes('POST /api/invoke HTTP/1.1', [], 'x'));
    expect(daemon.takeArrivals().map(({ method, target }) => `${method} ${target}`)).toEqual([
      'POST /api/invoke',
      'GET /sorry',
    ]);
  });

  it('error-page-passed-on by name: a spent proof is presented again', async () => {
    const { rules, gateway } = await start(
      'location / { proxy_pass http://daemons/; proxy_intercept_errors on; error_page 401 @again; } location @again { proxy_pass http://daemons; }',
    );
    await using _ = gateway;
    expect(rules).toEqual(['path-replaced', 'error-page-passed-on']);
    await call(gateway.port, '/api//invoke');
    expect(daemon.takeArrivals().map(({ target, verdict }) => `${target} ${verdict}`)).toEqual([
      '/api/invoke 401',
      '/api//invoke accepted',
    ]);
  });

  it('copied-for-authorization: the proof reaches another service before the daemon', async () => {
    authorized = [];
    const { rules, gateway } = await start(
      'location / { auth_request /auth; proxy_pass http://daemons; } location = /auth { internal; proxy_pass_request_body off; proxy_pass http://authorizer; }',
    );
    await using _ = gateway;
    expect(rules).toEqual(['copied-for-authorization']);
    await call(gateway.port, '/api/invoke');
    expect(authorized.map((headers) => headers['x-ori-invoke-signature-v2']?.length)).toEqual([88]);
    daemon.takeArrivals();
  });

  it('sent-twice by post_action: the proof is presented twice', async () => {
    const { rules, gateway } = await start(
      'location / { post_action @copy; proxy_pass http://daemons; } location @copy { proxy_pass http://daemons; }',
    );
    await using _ = gateway;
    expect(rules).toEqual(['sent-twice']);
    await call(gateway.port, '/api/invoke');
    const arrivals = daemon.takeArrivals();
    await expect.poll(() => arrivals.push(...daemon.takeArrivals())).toBe(2);
    expect(arrivals.map(({ verdict }) => verdict)).toEqual(['accepted', '401']);
  });

  it('path-unknown: the path is the variable’s value', async () => {
    const { rules, gateway } = await start('location / { proxy_pass http://daemons$http_x_path; }');
    await using _ = gateway;
    expect(rules).toEqual(['path-unknown']);
    await askRaw(gateway.port, requestBytes('POST /api/invoke HTTP/1.1', [['X-Path', '/other']], 'x'));
    expect(daemon.takeArrivals().map(({ target }) => target)).toEqual(['/other']);
  });
});

function configurationOf(server: string, authorizerPort: number): string {
  // As root, workers would run as a user who cannot write to the test's folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `
    ${user}
    daemon off;
    pid run/nginx.pid;
    events { }
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path run/${name};`).join(' ')}
      proxy_cache_path run/cache keys_zone=answers:1m;
      upstream daemons { include site/daemons.conf; }
      upstream authorizer { server 127.0.0.1:${authorizerPort}; }
      server { include site/listen.conf; ${server} }
    }`;
}
