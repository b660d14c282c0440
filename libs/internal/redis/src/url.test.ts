import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from './url.ts';

describe('parseRedisUrl', () => {
  it.each([
    ['redis://h', { kind: 'single', tls: false, db: 0, node: { host: 'h', port: 6379 } }],
    ['redis://h:1/', { kind: 'single', tls: false, db: 0, node: { host: 'h', port: 1 } }],
    ['rediss://h/3', { kind: 'single', tls: true, db: 3, node: { host: 'h', port: 6379 } }],
    [
      'redis://us%40er:p%2Fw%3A@h',
      {
        kind: 'single',
        tls: false,
        db: 0,
        username: 'us@er',
        password: 'p/w:',
        node: { host: 'h', port: 6379 },
      },
    ],
    ['redis://:pw@h', { kind: 'single', tls: false, db: 0, password: 'pw', node: { host: 'h', port: 6379 } }],
    ['redis://u@h', { kind: 'single', tls: false, db: 0, username: 'u', node: { host: 'h', port: 6379 } }],
    [
      'redis://user:@h',
      { kind: 'single', tls: false, db: 0, username: 'user', node: { host: 'h', port: 6379 } },
    ],
    [
      'redis://redis_1.example-2.org:65535/1234',
      { kind: 'single', tls: false, db: 1234, node: { host: 'redis_1.example-2.org', port: 65535 } },
    ],
    ['redis://[::1]:7', { kind: 'single', tls: false, db: 0, node: { host: '::1', port: 7 } }],
    [
      'redis+sentinel://u:p@a:1,b/my-master/2',
      {
        kind: 'sentinel',
        tls: false,
        db: 2,
        username: 'u',
        password: 'p',
        masterName: 'my-master',
        sentinelLogin: {},
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26379 },
        ],
      },
    ],
    [
      'redis+sentinel://u:p@a/m?sentinel=watch%40er:p%26w',
      {
        kind: 'sentinel',
        tls: false,
        db: 0,
        username: 'u',
        password: 'p',
        masterName: 'm',
        sentinelLogin: { username: 'watch@er', password: 'p&w' },
        sentinels: [{ host: 'a', port: 26379 }],
      },
    ],
    [
      'rediss+cluster://a:1,b:2',
      {
        kind: 'cluster',
        tls: true,
        db: 0,
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
  ])('reads %s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual(address);
  });

  it.each([
    '',
    'h:6379',
    'http://h',
    'redis:h',
    ' redis://h',
    'redis://',
    'redis://h:0',
    'redis://h:65536',
    'redis://h:x',
    'redis://!h',
    'redis://h:1!',
    'redis://h:123456',
    'redis://h/x',
    'redis://h/x1',
    'redis://h/1x',
    'redis://h/12345',
    'redis://h/1/2',
    'redis://h?db=1',
    'redis://h#1',
    'redis://a,b',
    'redis://%zz@h',
    'redis+sentinel://a',
    'redis://h?sentinel=u:p',
    'redis+sentinel://a/m?sentinel=%zz',
    'redis+sentinel://a/m?sentinel=u:p&db=1',
    'redis+sentinel://a/m/1/2',
    'redis+sentinel://a/m/x',
    'redis+sentinel://a/!m',
    'redis+sentinel://a/m!',
    'redis+cluster://a/1',
    'redis+other://a',
    'redis+cluster://a,',
  ])('does not take %j', (url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });
});
