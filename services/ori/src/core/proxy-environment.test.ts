import { expect, it } from 'vitest';
import { readProxyEnvironment } from './proxy-environment.ts';

it.each([
  ['http://proxy.example:3128', 'http://proxy.example:3128/'],
  ['HTTP://proxy.example:3128', 'http://proxy.example:3128/'],
  ['proxy.example:3128', 'http://proxy.example:3128/'],
  ['user:pw@127.0.0.1:9', 'http://user:pw@127.0.0.1:9/'],
  ['https://proxy.example', 'https://proxy.example/'],
])('reads HTTPS_PROXY=%s as curl does', (value, https_proxy) => {
  expect(readProxyEnvironment({ HTTPS_PROXY: value })).toEqual({ https_proxy });
});

it.each(['https://:9', 'socks5://127.0.0.1:9', 'http://user:secret@:x'])(
  'refuses HTTPS_PROXY=%s without repeating it',
  (value) => {
    const reading = () => readProxyEnvironment({ HTTPS_PROXY: value });
    expect(reading).toThrow(RangeError);
    expect(reading).not.toThrow(value);
  },
);

it.each([
  ['corp.example', 'corp.example,.corp.example'],
  ['my-host.corp.example:8443', 'my-host.corp.example:8443,.my-host.corp.example:8443'],
  ['.corp.example, *.lan', '.corp.example,*.lan'],
  ['127.0.0.1,10.0.0.1-10.0.0.9,[::1],*', '127.0.0.1,10.0.0.1-10.0.0.9,[::1],*'],
])('reads NO_PROXY=%s as %s', (NO_PROXY, no_proxy) => {
  expect(readProxyEnvironment({ https_proxy: 'http://p', NO_PROXY })).toMatchObject({ no_proxy });
});

it('uses no proxy without HTTPS_PROXY', () => {
  expect(readProxyEnvironment({ HTTPS_PROXY: '', NO_PROXY: '*' })).toBeUndefined();
});
