/** A construct of nginx that must not be in front of a daemon. */
export interface BadConfiguration {
  readonly construct: string;
  /** The body of a server of nginx. */
  readonly server: string;
  /** What `ori doctor call` reports behind it, for `/api//invoke/%41`. */
  readonly reported: readonly string[];
}

const PASS = 'proxy_pass http://daemons;';
const INVOKE = 'x-ori-invoke-';
const within = (directives: string, to = PASS) => `location / { ${directives} ${to} }`;
const lost = (...names: string[]) => names.map((name) => `${INVOKE}${name} lost`);

export const BAD_CONFIGURATIONS: readonly BadConfiguration[] = [
  {
    construct: '`proxy_pass_request_body off`',
    server: within('proxy_pass_request_body off; proxy_set_header Content-Length "";'),
    reported: ['body lost'],
  },
  {
    construct: '`proxy_set_body`',
    server: within('proxy_set_body "{\\"wrapped\\":$request_body}";'),
    reported: ['body changed'],
  },
  {
    construct:
      '`proxy_set_header Content-Encoding`: the daemon would decode a body that was signed undecoded',
    server: within('proxy_set_header Content-Encoding gzip;'),
    reported: ['content-encoding added'],
  },
  {
    construct: '`proxy_set_header Content-Type`',
    server: within('proxy_set_header Content-Type text/plain;'),
    reported: ['content-type changed'],
  },
  {
    construct: 'a header of the proof cleared: the rest is a version 1 proof, which is valid for any path',
    server: within('proxy_set_header X-Ori-Invoke-Signature-V2 ""; proxy_set_header X-Ori-Invoke-Nonce "";'),
    reported: lost('signature-v2', 'nonce'),
  },
  {
    construct: 'headers of the proof joined into one',
    server: within(
      'proxy_set_header X-Ori-Invoke-Nonce "$http_x_ori_invoke_nonce, $http_x_ori_invoke_nonce";',
    ),
    reported: [`${INVOKE}nonce repeated`],
  },
  {
    construct: '`proxy_set_header` of a header of the proof',
    server: within('proxy_set_header X-Ori-Invoke-User "gateway";'),
    reported: [`${INVOKE}user changed`],
  },
  {
    construct: '`proxy_pass_request_headers off`',
    server: within('proxy_pass_request_headers off; proxy_set_header Content-Type application/json;'),
    reported: lost('signature', 'timestamp', 'user', 'signature-v2', 'nonce'),
  },
  {
    construct: '`try_files` with another path',
    server: `location / { try_files /no-such-file /inner$uri; } location /inner/ { internal; ${PASS} }`,
    reported: ['path changed'],
  },
  {
    construct: 'a location whose captures build the path: they are of the decoded path',
    server: 'location ~ ^/(.*)$ { proxy_pass http://daemons/$1$is_args$args; }',
    reported: ['path changed to /api/invoke/A'],
  },
  {
    construct: '`proxy_pass` with `$uri`, which is the decoded path',
    server: `merge_slashes on; ${within('', 'proxy_pass http://daemons$uri;')}`,
    reported: ['path changed to /api/invoke/A'],
  },
  {
    construct: '`proxy_method`',
    server: within('proxy_method PUT;'),
    reported: ['method changed to PUT'],
  },
  {
    construct: '`proxy_pass` with a URI: the path is decoded, its slashes merged and its dots resolved',
    server: within('', 'proxy_pass http://daemons/;'),
    reported: ['path changed to /api/invoke/A'],
  },
  {
    construct: '`set $args`: nginx then rebuilds the path too',
    server: within('set $args via=gateway;'),
    reported: ['path changed to /api/invoke/A', 'query added'],
  },
  {
    construct: '`rewrite`',
    server: within('rewrite ^/api/(.*)$ /internal/$1 break;'),
    reported: ['path changed'],
  },
  {
    construct: '`proxy_pass` with a URI under its own location: the prefix is removed',
    server: 'location /api/ { proxy_pass http://daemons/; }',
    reported: ['path changed to /invoke/A'],
  },
];
