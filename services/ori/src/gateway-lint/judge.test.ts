import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GATEWAY_RULES, type RuleId } from './advice.ts';
import { judgeGateway } from './judge.ts';
import { parseConfiguration } from './nginx/parser.ts';

const rulesIn = (text: string) =>
  judgeGateway(parseConfiguration(text, 'a.conf')).findings.map(({ rule }) => rule);
/** The text in an otherwise empty server. */
const server = (text: string) => rulesIn(`http { upstream up { server 127.0.0.1:1; } server { ${text} } }`);
/** The text in a location that forwards requests unchanged. */
const route = (text: string) => server(`location / { proxy_pass http://up; ${text} }`);

const UNTOUCHED = 'location / { proxy_pass http://up; }';
const RAW = 'location / { proxy_pass http://up$request_uri; }';
const STRIPPED = 'proxy_set_header X-Ori-Invoke-Signature ""; proxy_set_header X-Ori-Invoke-Signature-V2 "";';

/** For each rule: what it finds, and similar directives that change nothing. */
const CASES: Record<
  RuleId,
  { found: Record<string, () => RuleId[]>; clean: Record<string, () => RuleId[]> }
> = {
  'path-replaced': {
    found: {
      'a last slash': () => server('location /a/ { proxy_pass http://up/; }'),
      'the same path again, which is decoded': () => server('location /a/ { proxy_pass http://up/a/; }'),
      'a path behind a socket': () => server('location / { proxy_pass http://unix:/run/d.sock:/x; }'),
      'a path behind a variable host': () => server('location / { proxy_pass http://$host/x; }'),
      'a path behind a variable for scheme and host': () =>
        server('set $b $elsewhere; location / { proxy_pass $b/api/; }'),
      'a path behind a variable with a port': () => server('location / { proxy_pass $elsewhere:80/x; }'),
      'a path behind an unknown host': () => server('location / { proxy_pass http://$elsewhere/x; }'),
      'a path from set': () => server('set $d http://up/x; location / { proxy_pass $d; }'),
      'a path from one entry of a map': () =>
        rulesIn(
          'http { map $host $d { default up; b up/x; } server { location / { proxy_pass http://$d; } } }',
        ),
      'in a part of a location': () => server('location / { if ($a) { proxy_pass http://up/x; } }'),
      'in a nested location': () => server('location / { location /a { proxy_pass http://up/; } }'),
    },
    clean: {
      'no path': () => server(UNTOUCHED),
      'the raw target': () => server(RAW),
      'the raw target behind a variable for all': () =>
        server('location / { proxy_pass $elsewhere$request_uri; }'),
      'the raw target in braces': () => server(`location / { proxy_pass http://up$\{request_uri}; }`),
      'a socket': () => server('location / { proxy_pass http://unix:/run/d.sock; }'),
      'a port, IPv6': () => server('location / { proxy_pass https://[::1]:8443; }'),
      'a host of the request': () => server('location / { proxy_pass $scheme://$host:$server_port; }'),
    },
  },
  'path-computed': {
    found: {
      'the decoded path': () => server('location / { proxy_pass http://up$uri$is_args$args; }'),
      'the raw target behind a prefix': () => server('location / { proxy_pass http://up/a$request_uri; }'),
      'the raw target before something': () =>
        server('location / { proxy_pass http://up$request_uri$is_args; }'),
      'a capture in a path': () => server('location ~ ^/a/(.*)$ { proxy_pass http://up/$1; }'),
    },
    clean: { 'the raw target': () => server(RAW) },
  },
  'path-unknown': {
    found: {
      'a variable for all': () => server('location / { proxy_pass $elsewhere; }'),
      'a variable that may contain a path': () => server('location / { proxy_pass http://$elsewhere; }'),
      'a capture behind the host': () => server('location ~ ^/a(/.*)$ { proxy_pass http://up$1; }'),
    },
    clean: {
      'a variable that set fills': () => server('set $d 127.0.0.1:1; location / { proxy_pass http://$d; }'),
      'a variable that a map fills': () =>
        rulesIn('http { map $host $d { default up; } server { location / { proxy_pass http://$d; } } }'),
      'a variable of a variable': () => server('set $a up; set $d http://$a; location / { proxy_pass $d; }'),
      'a capture of the server name': () =>
        server(
          'server_name ~^(?<intern>[a-z0-9]+)\\.example$; location / { proxy_pass http://$intern.internal:80; }',
        ),
      'the raw target behind the variable': () =>
        server('set $d up; location / { proxy_pass http://$d$request_uri; }'),
    },
  },
  'path-rewritten': {
    found: {
      'in the location': () => route('rewrite ^/a/(.*)$ /$1 break;'),
      'in the server': () => server(`rewrite ^/a(/.*)$ $1; ${UNTOUCHED}`),
      'in a condition': () => route('if ($host = a) { rewrite ^ /b break; }'),
      'in another location, towards the route': () =>
        server(`${UNTOUCHED} location /old { rewrite ^/old(/.*)$ $1 last; }`),
      'to a fixed path of the route': () =>
        server(`${UNTOUCHED} location /old { rewrite ^ /api/invoke last; }`),
    },
    clean: {
      'a redirect': () => server(`rewrite ^/old /new permanent; rewrite ^/x /y redirect; ${UNTOUCHED}`),
      'a redirect to a URL': () =>
        server(`rewrite ^ https://$host$request_uri; rewrite ^ $scheme://b$uri; ${UNTOUCHED}`),
      'before a route that sends the raw target': () => server(`rewrite ^/a /b last; ${RAW}`),
      'towards a page': () =>
        server(`${UNTOUCHED} location = /page { return 204; } location /old { rewrite ^ /page last; }`),
      'that stays in a location without a route': () =>
        server(`${UNTOUCHED} location /files { root /srv; rewrite ^/files(.*)$ $1 break; }`),
    },
  },
  'path-redirected': {
    found: {
      'try_files to a path of the route': () =>
        server('location / { try_files $uri /app; } location /app { proxy_pass http://up; }'),
      'try_files to a variable': () => server(`${UNTOUCHED} location /a { try_files /x $uri/y; }`),
      'index on the route': () =>
        server('location /a/ { root /srv; index b.php; } location = /a/b.php { proxy_pass http://up; }'),
      'index by a path of its own': () =>
        server('location /a/ { root /srv; index /b.php; } location = /b.php { proxy_pass http://up; }'),
    },
    clean: {
      'try_files to a name': () =>
        server('location / { try_files $uri @app; } location @app { proxy_pass http://up; }'),
      'try_files to a status': () => server(`${UNTOUCHED} location /f { try_files $uri =404; }`),
      'try_files to a page': () =>
        server(`${UNTOUCHED} location = /p { return 204; } location /f { try_files $uri /p?x; }`),
      'try_files before the raw target': () => server(`${RAW} location /f { try_files $uri /g; }`),
      'index beside the route': () =>
        server('location /f/ { root /srv; index i.html; } location = /i.html { proxy_pass http://up; }'),
    },
  },
  'query-set': {
    found: {
      'set $args': () => server(`set $args a=1; ${UNTOUCHED}`),
      'in the location': () => route('set $args "";'),
    },
    clean: {
      'another variable': () => route('set $arguments a=1;'),
      'before the raw target': () => server(`set $args a=1; ${RAW}`),
    },
  },
  'method-set': {
    found: {
      'in the location': () => route('proxy_method GET;'),
      'POST for every method': () => route('proxy_method POST;'),
      inherited: () => server(`proxy_method PUT; ${UNTOUCHED}`),
    },
    clean: {
      'the method itself': () => route('proxy_method $request_method;'),
      'in an inner location that forwards nothing itself': () =>
        server('location /a { proxy_pass http://up; location /a/b { proxy_method GET; return 204; } }'),
      'in a location that forwards nothing': () =>
        server(`${UNTOUCHED} location /x { proxy_method GET; return 204; }`),
    },
  },
  'body-replaced': {
    found: {
      'a text': () => route('proxy_set_body "{}";'),
      'the body variable': () => route('proxy_set_body $request_body;'),
    },
    clean: { 'a body buffer': () => route('client_body_buffer_size 1m; proxy_request_buffering off;') },
  },
  'body-dropped': {
    found: {
      off: () => route('proxy_pass_request_body off;'),
      inherited: () => server(`proxy_pass_request_body off; ${UNTOUCHED}`),
    },
    clean: {
      on: () => route('proxy_pass_request_body on;'),
      'on again further in': () =>
        server(
          'proxy_pass_request_body off; location / { proxy_pass_request_body on; proxy_pass http://up; }',
        ),
    },
  },
  'body-length-set': {
    found: {
      'the length': () => route('proxy_set_header Content-Length 3;'),
      'the framing': () => route('proxy_set_header Transfer-Encoding chunked;'),
    },
    clean: { 'an age': () => route('proxy_set_header Max-Forwards 3;') },
  },
  'headers-dropped': {
    found: { off: () => route('proxy_pass_request_headers off;') },
    clean: { on: () => route('proxy_pass_request_headers on;') },
  },
  'proof-header-set': {
    found: {
      'to a value': () => route('proxy_set_header X-Ori-Invoke-User mallory;'),
      'to itself': () => route('proxy_set_header x-ori-invoke-nonce $http_x_ori_invoke_nonce;'),
      'to nothing': () => route('proxy_set_header X-ORI-INVOKE-SIGNATURE-V2 "";'),
      inherited: () => server(`proxy_set_header X-Ori-Invoke-Timestamp 1; ${UNTOUCHED}`),
      'by headers-more': () => route(`more_set_input_headers -r 'Host: a' 'X-Ori-Invoke-User: b';`),
      'cleared by headers-more, with a wildcard': () =>
        route('more_clear_input_headers -t application/json X-Ori-*;'),
      'by gRPC': () => server('location / { grpc_pass up; grpc_set_header X-Ori-Invoke-User a; }'),
    },
    clean: {
      'other headers': () =>
        route('proxy_set_header Host $host; proxy_set_header X-Ori-Title a; proxy_set_header Connection "";'),
      'where the location has headers of its own': () =>
        server(
          'proxy_set_header X-Ori-Invoke-User a; location / { proxy_set_header Host b; proxy_pass http://up; }',
        ),
      'for another protocol': () => route('grpc_set_header X-Ori-Invoke-User a;'),
      'other headers by headers-more': () =>
        route(`more_set_input_headers 'Host: a'; more_clear_input_headers 'X-Other*';`),
    },
  },
  'content-type-set': {
    found: { 'to a value': () => route('proxy_set_header Content-Type application/json;') },
    clean: { 'another header': () => route('proxy_set_header Accept application/json;') },
  },
  'content-encoding-set': {
    found: { 'to nothing': () => route('proxy_set_header Content-Encoding "";') },
    clean: { 'the accepted codings of the answer': () => route('proxy_set_header Accept-Encoding "";') },
  },
  'header-aliases': {
    found: {
      'in the server': () => server(`underscores_in_headers on; ${UNTOUCHED}`),
      'around it': () => rulesIn(`http { underscores_in_headers on; server { ${UNTOUCHED} } }`),
    },
    clean: { off: () => server(`underscores_in_headers off; ${UNTOUCHED}`) },
  },
  'invalid-headers-passed': {
    found: { off: () => server(`ignore_invalid_headers off; ${UNTOUCHED}`) },
    clean: { on: () => server(`ignore_invalid_headers on; ${UNTOUCHED}`) },
  },
  'sent-twice': {
    found: {
      'to another server': () =>
        route('mirror /m; } location = /m { internal; proxy_pass http://other$request_uri;'),
      inherited: () => server(`mirror /m; ${UNTOUCHED} location = /m { proxy_pass http://other; }`),
      'after the answer': () => route('post_action @m; } location @m { proxy_pass http://other;'),
      'with half of the proof taken out': () =>
        route(
          'mirror /m; } location = /m { proxy_set_header X-Ori-Invoke-Signature-V2 ""; proxy_pass http://other;',
        ),
    },
    clean: {
      off: () => route('mirror off;'),
      'without the signatures': () =>
        route(`mirror /m; } location = /m { ${STRIPPED} proxy_pass http://other;`),
      'without headers': () =>
        route('mirror /m; } location = /m { proxy_pass_request_headers off; proxy_pass http://other;'),
      'that is not forwarded': () => route('mirror /m; } location = /m { return 204;'),
    },
  },
  'copied-for-authorization': {
    found: {
      'to another server': () =>
        route('auth_request /auth; } location = /auth { internal; proxy_pass http://auth/check;'),
    },
    clean: {
      'without the signatures': () =>
        route(
          `auth_request /auth; } location = /auth { ${STRIPPED} proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_pass http://auth/;`,
        ),
      off: () => route('auth_request off;'),
    },
  },
  retried: {
    found: {
      'in the location': () => route('proxy_next_upstream error timeout non_idempotent;'),
      'by gRPC': () => server('location / { grpc_pass up; grpc_next_upstream error non_idempotent; }'),
    },
    clean: {
      'only requests that were not sent yet': () => route('proxy_next_upstream error timeout http_503;'),
    },
  },
  'error-page-passed-on': {
    found: {
      'by name': () => route('error_page 502 @b; } location @b { proxy_pass http://other;'),
      'by path': () => server(`error_page 404 /404.html; ${UNTOUCHED}`),
      'by a path of variables': () => server(`error_page 405 =200 $uri; ${UNTOUCHED}`),
      'by path, with the raw target': () => server(`error_page 404 /404.html; ${RAW}`),
    },
    clean: {
      'to a page by path': () =>
        server(`error_page 404 /404.html; ${UNTOUCHED} location = /404.html { root /srv; }`),
      'to a page by name': () => route(`error_page 502 @b; } location @b { return 502 '{}';`),
      elsewhere: () => route('error_page 502 https://status.example/; error_page 503 https://$host/sorry;'),
      'before anything was sent': () =>
        server('location / { root /srv; error_page 404 = @app; } location @app { proxy_pass http://up; }'),
    },
  },
  'answer-cached': {
    found: { 'POST too': () => route('proxy_cache zone; proxy_cache_methods GET POST;') },
    clean: {
      'GET and HEAD': () => route('proxy_cache zone;'),
      'GET alone': () => route('proxy_cache zone; proxy_cache_methods GET;'),
      'no cache': () =>
        server(
          'proxy_cache_methods POST; proxy_cache zone; location / { proxy_cache off; proxy_pass http://up; }',
        ),
      'no zone': () => route('proxy_cache_methods POST;'),
    },
  },
  'not-http': {
    found: {
      fastcgi: () => server('location / { fastcgi_pass up; }'),
      uwsgi: () => server('location / { uwsgi_pass up; }'),
      scgi: () => server('location / { scgi_pass up; }'),
    },
    clean: { grpc: () => server('location / { grpc_pass grpc://up; }') },
  },
  'code-changes-request': {
    found: {
      'the path': () => route('rewrite_by_lua_block { ngx.req.set_uri("/x") }'),
      'the body': () => route('access_by_lua_block { ngx.req.read_body() ngx.req.set_body_data("}") }'),
      'a header': () => route(`access_by_lua 'ngx.req.clear_header("X-Ori-Invoke-Nonce")';`),
      'a subrequest': () =>
        server(`${UNTOUCHED} location /x { content_by_lua_block { return ngx.location.capture("/api") } }`),
      'for every server': () =>
        rulesIn(`http { access_by_lua_block { ngx.exec("/x") } server { ${UNTOUCHED} } }`),
    },
    clean: {
      'code that only reads': () => route('access_by_lua_block { local t = { ngx.req.get_headers() } }'),
      'in a comment': () => route('access_by_lua_block { -- ngx.req.set_uri("/x")\n }'),
      'of the answer': () => route('header_filter_by_lua_block { ngx.header["X-A"] = "b" }'),
    },
  },
  'code-not-seen': {
    found: {
      'before the route': () => route('access_by_lua_file auth.lua;'),
      'in front of an inner route': () =>
        server('location / { js_content main.handle; } location /up { internal; proxy_pass http://up; }'),
    },
    clean: {
      'of the log': () => route('log_by_lua_file log.lua;'),
      'beside the route': () => server(`${UNTOUCHED} location /x { js_content main.handle; }`),
    },
  },
};

const each = (side: 'found' | 'clean') =>
  Object.entries(CASES).flatMap(([rule, cases]) =>
    Object.entries(cases[side]).map(([what, judge]) => ({ rule, what, judge })),
  );

it.each(each('found'))('finds $rule: $what', ({ rule, judge }) => expect(judge()).toEqual([rule]));
it.each(each('clean'))('finds nothing for $rule: $what', ({ judge }) => expect(judge()).toEqual([]));
it('has cases for every rule', () => expect(Object.keys(CASES)).toEqual(Object.keys(GATEWAY_RULES)));

it('reports a rewrite even if proxy_pass replaces the path', () => {
  const text = 'location / { rewrite ^/a /b break; proxy_pass http://up/; }';
  expect(server(text).toSorted()).toEqual(['path-replaced', 'path-rewritten']);
});

it('accepts a file without http, or without servers, as a part of a configuration', () => {
  expect(rulesIn('upstream up { server a; } server { location / { proxy_pass http://up/; } }')).toEqual([
    'path-replaced',
  ]);
  expect(rulesIn('location / { proxy_pass http://up/; }')).toEqual(['path-replaced']);
  expect(rulesIn('proxy_pass http://up; proxy_method GET;')).toEqual(['method-set']);
});

it('ignores streams and the entries of maps', () => {
  const text =
    'stream { server { proxy_pass up/; } } http { map $a $b { rewrite x; server y; } server { location / { proxy_pass http://up; } } }';
  expect(rulesIn(text)).toEqual([]);
  expect(server(`types { rewrite ^/a/(.*)$ /$1; } ${UNTOUCHED}`)).toEqual([]);
});

it('reports a directive once, even if several routes inherit it', () => {
  expect(
    server('proxy_method GET; location /a { proxy_pass http://up; } location /b { proxy_pass http://up; }'),
  ).toEqual(['method-set']);
});

it('skips exactly the findings that a comment allows', () => {
  const { findings, allowed } = judgeGateway(
    parseConfiguration(
      'location / {\n# ori-doctor: allow retried, signing is no call\nproxy_next_upstream non_idempotent;\nproxy_method GET;\nproxy_pass http://up; }',
      'a.conf',
    ),
  );
  expect(findings.map(({ rule }) => rule)).toEqual(['method-set']);
  expect(allowed.map(({ rule }) => rule)).toEqual(['retried']);
  const other =
    '# ori-doctor: allow path-unknown, for another reason\nproxy_method GET; proxy_pass http://up;';
  expect(rulesIn(`location / {\n${other} }`)).toEqual(['method-set']);
});

it('counts the places that forward requests', () => {
  const routesIn = (text: string) => judgeGateway(parseConfiguration(text, 'a.conf')).routes;
  expect(
    routesIn(
      'server { location / { proxy_pass http://a; if ($b) { return 404; } } location /b { proxy_pass http://b; } }',
    ),
  ).toBe(2);
  expect(routesIn('server { listen 80; return 301 https://$host$request_uri; }')).toBe(0);
});

it.each([
  [2000, 'path-replaced'],
  [5000, 'path-unknown'],
])('reads every value of a map, with %i before it', (count, rule) => {
  const entries = Array.from({ length: count }, (_, i) => `h${i} up${i};`).join('');
  const map = `map $host $d { ${entries} z up/x; }`;
  expect(rulesIn(`http { ${map} server { location / { proxy_pass http://$d; } } }`)).toEqual([rule]);
});

const names =
  'http server location if limit_except map upstream proxy_pass grpc_pass fastcgi_pass rewrite set try_files index error_page mirror auth_request proxy_set_header proxy_method include access_by_lua'.split(
    ' ',
  );
const words = [
  '/',
  '@a',
  '$d',
  '$uri',
  '$request_uri',
  'http://up',
  'http://$d/',
  '= /x',
  '~',
  '^(',
  '.*',
  'last',
  'off',
  'on',
  '404',
  '',
];
const directive = fc
  .tuple(fc.constantFrom(...names), fc.array(fc.constantFrom(...words), { maxLength: 4 }))
  .map(([name, args]) => [name, ...args.map((arg) => JSON.stringify(arg))].join(' '));
const block = fc.letrec<{ all: string }>((tie) => ({
  all: fc
    .array(fc.tuple(directive, fc.option(tie('all'), { nil: ';', maxDepth: 5 })), { maxLength: 5 })
    .map((parts) =>
      parts.map(([head, rest]) => (rest === ';' ? `${head};` : `${head} {${rest}}`)).join('\n'),
    ),
})).all;

it('checks every configuration that parses', () => {
  fc.assert(
    fc.property(block, (text) => {
      for (const { rule } of judgeGateway(parseConfiguration(text, 'a.conf')).findings)
        expect(GATEWAY_RULES).toHaveProperty(rule);
    }),
    { numRuns: 500 },
  );
});
