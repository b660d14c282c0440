import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientOf } from './client.ts';

function request(headers: IncomingMessage['headers'], remoteAddress = '10.0.0.9') {
  return {
    headers: { host: 'api.example', ...headers },
    socket: { remoteAddress } as IncomingMessage['socket'],
  };
}

const forwarded = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-host': 'eu.api.example' };

describe('the client of a request', () => {
  it('is the one that the gateway names, if the gateway is trusted', () => {
    expect(clientOf(request(forwarded), true)).toEqual({ address: '192.0.2.7', authority: 'eu.api.example' });
    expect(clientOf(request({ 'x-forwarded-for': '2001:db8::1' }), true).address).toBe('2001:db8::1');
  });

  it('is the peer of the connection, whatever the request says, if no gateway is trusted', () => {
    expect(clientOf(request(forwarded), false)).toEqual({ address: '10.0.0.9', authority: 'api.example' });
  });

  it.each(['192.0.2.7, 198.51.100.1', 'unknown', '192.0.2.7:80', '', '<script>'])(
    'is the peer of the connection if the gateway did not name exactly one address: %j',
    (value) => {
      const client = clientOf(request({ 'x-forwarded-for': value, 'x-forwarded-host': `${value},` }), true);
      expect(client).toEqual({ address: '10.0.0.9', authority: 'api.example' });
    },
  );

  it('has an IPv4 address in IPv4 form', () => {
    expect(clientOf(request({}, '::ffff:192.0.2.1'), false).address).toBe('192.0.2.1');
    expect(clientOf(request({}, '::1'), false).address).toBe('::1');
  });
});
