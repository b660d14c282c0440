export const BODY = '{"a":1}';
const HEAD = 'Host: d\r\nContent-Type: application/json\r\n';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;

/** What `Proxy` and each relative would make the daemon believe. */
export const CLAIMED = 'intruder';
const NAMES = [
  'x-ori-verified-user',
  'X-ORI-VERIFIED-USER',
  'x_ori_verified_user',
  'X-Ori_Verified-User',
  'x.ori.verified.user',
];
const OTHERS = [
  'x-ori-anything',
  'Proxy',
  'X-HTTP-Method-Override',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Script-Name',
  'X-Envoy-Original-Path',
  'X-Middleware-Subrequest',
  'X-Sendfile-Type',
  'X-Accel-Mapping',
  'Remote-User',
  'X-Remote-User',
  'X-Auth-Request-Email',
  'X-SSL-Client-Verify',
  'Client-Cert',
  'Client-IP',
  'X-Azure-SocketIP',
  'Forwarded-For',
  'X-Scheme',
  'X-Host-Override',
  'X-Authentik-Username',
  'X-Amzn-Mtls-Clientcert',
  'Forwarded',
  'X-Forwarded-Host',
];

/** Lines that every form is sent with, alone: the same call must come out, or none. */
export const LINES = [
  ...[...NAMES, ...OTHERS].flatMap((name) => [
    `${name}: ${CLAIMED}\r\n`,
    `${name}: ${CLAIMED}\r\n${name}: ${CLAIMED}\r\n`,
    `${name}:\t${CLAIMED} \r\n`,
  ]),
  'Connection: x-ori-verified-user\r\n',
  'Connection: content-type\r\n',
  'Connection: close, x-ori-verified-nonce\r\n',
  'Connection: keep-alive, te\r\nTE: trailers\r\n',
  'Upgrade: h2c\r\nConnection: upgrade\r\n',
  'Expect: 100-continue\r\n',
  'Expect: 200-ok\r\n',
  'Content-Encoding: gzip\r\n',
  'Content-Type: application/json\r\n',
  'Content-Type: text/plain\r\n',
  'Content_Length: 1\r\n',
  'Content-Length: 1\r\n',
  'Content-Length: +7\r\n',
  'Host: other\r\n',
  ' folded: x\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'X-Ori-Invoke-User: other\r\n',
  'x_ori_invoke_user: other\r\n',
  'Cookie: a=1\r\nCookie: b=2\r\n',
  'X-Name: \xe9\r\n',
];

export const TARGETS = [
  '/a',
  '/a/../b',
  '/a%2fb',
  '/a//b',
  '/%61',
  '/a;b',
  '/a%00',
  '/a\\b',
  '/~',
  '/a%',
  '/*',
];
export const REFUSED_TARGETS = [
  '//a',
  'http://d/a',
  'https://d/a',
  'd:443',
  '*',
  '/a?',
  '/a?b=1',
  '/a#b',
  'a',
  '',
];

type Frame = (path: string, proof: string, lines: string) => string;

/** The ways to frame one body. */
export const FRAMES: readonly Frame[] = [
  (path, proof, lines) => `POST ${path} HTTP/1.1\r\n${HEAD}${proof}${lines}${LENGTH}\r\n${BODY}`,
  (path, proof, lines) => `POST ${path} HTTP/1.0\r\n${HEAD}${proof}${lines}${LENGTH}\r\n${BODY}`,
  (path, proof, lines) =>
    `POST ${path} HTTP/1.1\r\n${HEAD}${proof}${lines}Transfer-Encoding: chunked\r\n\r\n3;x=y\r\n${BODY.slice(0, 3)}\r\n4\r\n${BODY.slice(3)}\r\n0\r\nx-ori-verified-user: ${CLAIMED}\r\n\r\n`,
  (path, proof, lines) =>
    `POST ${path} HTTP/1.1\r\n${HEAD}${proof}${lines}tRANSFER-eNCODING:cHUNKED\r\n\r\n${[...BODY].map((byte) => `0001\r\n${byte}\r\n`).join('')}0\r\n\r\n`,
];

/** Lines that frame a body in a way on which two servers could disagree. */
const DISPUTED = [
  'Content-Length: 7\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 7',
  'Content-Length: 7\r\nTransfer-Encoding : chunked',
  'Content-Length: 7\r\nTransfer_Encoding: chunked',
  'Content-Length: 7\r\nTransfer-Encoding: xchunked',
  'Content-Length: 7\r\nTransfer-Encoding:\x0bchunked',
  'Content-Length: 7\r\nX: a\nTransfer-Encoding: chunked',
  'Content-Length: 7\r\nX: a\rTransfer-Encoding: chunked',
  'Content-Length: 7\r\nX: a\x00\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Content-Length: 7\r\nContent-Length: 0',
  'Content-Length: 0\r\nContent-Length: 7',
  'Content-Length: 7, 7',
  'Content-Length: 0x7',
  'Content-Length: 007',
  'Content-Length: -7',
  'Content-Length: 7;',
  'Content-Length:\r\n 7',
];

/** A call that must not be found behind another: it claims an identity as the guard would state it. */
const HIDDEN = `POST /b HTTP/1.1\r\n${HEAD}x-ori-verified-user: ${CLAIMED}\r\n${LENGTH}\r\n${BODY}`;
const CHUNKS = `7\r\n${BODY}\r\n0\r\n\r\n`;
const disputed: readonly Frame[] = DISPUTED.flatMap((line) =>
  [BODY, CHUNKS].map(
    (body): Frame =>
      (path, proof, lines) =>
        `POST ${path} HTTP/1.1\r\n${HEAD}${proof}${lines}${line}\r\n\r\n${body}${HIDDEN}`,
  ),
);

/** One form of a call: its path, and its bytes with these lines of a proof, or with none. */
export interface Form {
  readonly path: string;
  bytes(proof: string): string;
}

const form = (frame: Frame, path: string, lines: string): Form => ({
  path,
  bytes: (proof) => frame(path, proof, lines),
});

/** Every frame with every line and every target, then those that hide a call behind a frame in dispute. */
export const FORMS: readonly Form[] = [
  ...FRAMES.flatMap((frame) => [
    ...['', ...LINES].map((lines) => form(frame, '/a', lines)),
    ...[...TARGETS, ...REFUSED_TARGETS].map((path) => form(frame, path, '')),
  ]),
  ...disputed.map((frame) => form(frame, '/a', '')),
];
