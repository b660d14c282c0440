import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { readToEnd } from './read-to-end.ts';

it('prepares a connection that is used again once', () => {
  const socket = new Socket();
  readToEnd(socket);
  const { _write, _writev } = socket;
  readToEnd(socket);
  expect(socket).toMatchObject({ _write, _writev });
});
