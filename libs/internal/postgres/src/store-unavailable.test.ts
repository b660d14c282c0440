import { describe, expect, it } from 'vitest';
import { StoreUnavailable, unavailableAtConnect, unavailableFrom } from './store-unavailable.ts';

const fromServer = (code: string, more: object = {}) =>
  Object.assign(new Error('reported by the server'), { code, severity: 'ERROR', ...more });
const fromSocket = (code: string) => Object.assign(new Error(code), { code, syscall: 'connect' });

describe('a failure', () => {
  it.each<[string, Error, string]>([
    ['cancelled by statement_timeout', fromServer('57014'), 'timed_out'],
    ['of a transaction left idle', fromServer('25P03'), 'timed_out'],
    ['of a transaction that lasted too long', fromServer('25P04'), 'timed_out'],
    ['that PgBouncer itself reports', fromServer('08P01'), 'refused'],
    ['of a prepared statement that is on another connection of PgBouncer', fromServer('26000'), 'refused'],
    ['of one that another process prepared there', fromServer('42P05'), 'refused'],
    ['of a server that shuts down', fromServer('57P01'), 'refused'],
    ['of a server that starts up', fromServer('57P03'), 'refused'],
    ['of a server with too many connections', fromServer('53300'), 'refused'],
    ['of a server that takes no writes', fromServer('25006'), 'refused'],
    ['of a server whose disk is full', fromServer('53100'), 'refused'],
    ['of a server that cannot read its files', fromServer('58030'), 'refused'],
    ['of a serialization failure', fromServer('40001'), 'contended'],
    ['of a deadlock', fromServer('40P01'), 'contended'],
    ['of a plan that no longer fits', fromServer('0A000', { routine: 'RevalidateCachedQuery' }), 'refused'],
    ['of the connection, reported by the server', fromServer('08006'), 'unreachable'],
    ['to connect', fromSocket('ECONNREFUSED'), 'unreachable'],
    ['of a connection that was reset', fromSocket('ECONNRESET'), 'unreachable'],
    ['to find the host', fromSocket('ENOTFOUND'), 'unreachable'],
    ['of a connection that ended', new Error('Connection terminated unexpectedly'), 'unreachable'],
    [
      'of a client that had failed before',
      new Error('Client was closed and is not queryable'),
      'unreachable',
    ],
    ['of a closed engine', new Error('PGlite is closed'), 'unreachable'],
    ['to answer in time', new Error('Query read timeout'), 'timed_out'],
  ])('%s is the database being unavailable', (_what, error, code) => {
    const unavailable = unavailableFrom(error);
    expect(unavailable).toMatchObject({ name: 'StoreUnavailable', code, cause: error });
  });

  it.each<[string, unknown]>([
    ['of syntax', fromServer('42601')],
    ['of a missing privilege', fromServer('42501')],
    ['of a unique constraint', fromServer('23505')],
    ['of an unsupported feature', fromServer('0A000')],
    ['that only mentions a timeout', fromServer('42601', { message: 'column "timeout" does not exist' })],
    ['of our own code', new TypeError('x is not a function')],
    ['that is not an Error', 'timeout'],
  ])('%s is not', (_what, error) => {
    expect(unavailableFrom(error)).toBeUndefined();
  });

  it('any error while connecting is', () => {
    expect(unavailableAtConnect(fromServer('28P01')).code).toBe('refused');
    expect(unavailableAtConnect(fromServer('3D000')).code).toBe('refused');
    expect(unavailableAtConnect(new Error('self-signed certificate')).code).toBe('unreachable');
    const known = new StoreUnavailable('timed_out', 'x');
    expect(unavailableAtConnect(known)).toBe(known);
  });
});
