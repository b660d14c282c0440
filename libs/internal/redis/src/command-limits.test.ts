import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitCommands } from './command-limits.ts';

const MEBIBYTE = 1024 * 1024;
const replyError = Object.assign(new Error(), { name: 'ReplyError' });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A connected node whose answers the test gives. */
function connect(limits = { commandTimeoutMs: 200, socketTimeoutMs: 300 }) {
  const destroy = vi.fn();
  const stream = Object.assign(new EventEmitter(), { destroy });
  const sent: unknown[] = [];
  const node = Object.assign(new EventEmitter(), {
    stream,
    sendCommand: (command: { promise: Promise<void> }) => {
      sent.push(command);
      return command.promise;
    },
  });
  limitCommands(node as unknown as Redis, limits);
  node.emit('connect');
  /** Sends a command. Its state is `pending`, `answered` or `failed`. */
  const send = () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const command = { promise, resolve, reject, state: 'pending' };
    const end = (state: string) => () => {
      command.state = state;
    };
    node.sendCommand(command).then(end('answered'), end('failed'));
    expect(sent.at(-1)).toBe(command);
    return command;
  };
  const isClosed = () => destroy.mock.calls.length > 0;
  return { send, hear: (bytes: number) => stream.emit('data', Buffer.alloc(bytes)), isClosed };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it('a command fails when its time is over, and a silent connection is closed when its own is', async () => {
  const { send, isClosed } = connect();
  const command = send();
  await pass(190);
  expect(command.state).toBe('pending');
  await pass(20);
  expect(command.state).toBe('failed');
  await pass(80);
  expect(isClosed()).toBe(false);
  await pass(20);
  expect(isClosed()).toBe(true);
});

it('a connection that may not be silent as long as a command may take is closed with the command', async () => {
  const { send, isClosed } = connect({ commandTimeoutMs: 200, socketTimeoutMs: 100 });
  send();
  await pass(190);
  expect(isClosed()).toBe(false);
  await pass(20);
  expect(isClosed()).toBe(true);
});

it.each([50, 250])(
  'a connection heard after %d ms is not closed because a command has failed',
  async (ms) => {
    const { send, hear, isClosed } = connect();
    const command = send();
    await pass(ms);
    hear(1);
    await pass(1000);
    expect([command.state, isClosed()]).toEqual(['failed', false]);
  },
);

it.each(['resolve', 'reject'] as const)('a command that was answered has no limit: %s', async (end) => {
  const { send, isClosed } = connect();
  const command = send();
  const { state } = command;
  command[end](replyError as never);
  await pass(1000);
  expect([state, command.state, isClosed()]).toEqual([
    'pending',
    end === 'resolve' ? 'answered' : 'failed',
    false,
  ]);
});

it('what is heard before a reply is complete has a limit, which each reply has for itself', async () => {
  const { send, hear, isClosed } = connect();
  for (const reply of ['resolve', 'reject', 'resolve'] as const) {
    const command = send();
    hear(MEBIBYTE / 2);
    hear(MEBIBYTE / 2);
    command[reply](replyError as never);
    await pass(0);
    expect(isClosed()).toBe(false);
  }
  send();
  hear(MEBIBYTE);
  expect(isClosed()).toBe(false);
  hear(1);
  expect(isClosed()).toBe(true);
});

it('a command that fails without a reply does not let the next reply be larger', async () => {
  const { send, hear, isClosed } = connect();
  const command = send();
  hear(MEBIBYTE);
  command.reject(new Error());
  await pass(0);
  hear(1);
  expect(isClosed()).toBe(true);
});
