import { lagTolerantTimers } from '@ori/runtime/lag-tolerant-timer';
import type { Redis } from 'ioredis';

export interface CommandLimits {
  /** How long one command may take, in milliseconds. */
  readonly commandTimeoutMs: number;
  /** The time without a byte of a reply after which a connection is closed, in milliseconds. */
  readonly socketTimeoutMs: number;
}

/** Far above every reply that a service needs; the client buffers a reply until it is complete. */
const REPLY_BYTES_MAX = 1024 * 1024;

/**
 * Limits what a node can cost: the time of a command, silence, and the size of a reply. The time limits of
 * ioredis also expire while this process is too busy to read replies that have arrived.
 */
export function limitCommands(node: Redis, { commandTimeoutMs, socketTimeoutMs }: CommandLimits): void {
  let heard = 0;
  let heardSinceReply = 0;
  const startCommand = lagTolerantTimers(commandTimeoutMs);
  const startSilence = lagTolerantTimers(Math.max(0, socketTimeoutMs - commandTimeoutMs));
  const giveUp = (why: string) => node.stream?.destroy(new Error(why));

  node.on('connect', () => {
    node.stream.on('data', (chunk: Buffer) => {
      heard += chunk.length;
      heardSinceReply += chunk.length;
      if (heardSinceReply > REPLY_BYTES_MAX) giveUp('Reply too large');
    });
  });

  const send = node.sendCommand.bind(node);
  node.sendCommand = (command, stream) => {
    const heardBefore = heard;
    const cancel = startCommand(() => {
      command.reject(new Error('Command timed out'));
      startSilence(() => {
        if (heard === heardBefore) giveUp('Connection silent');
      });
    });
    const end = (error?: Error) => {
      if (error === undefined || error.name === 'ReplyError') heardSinceReply = 0;
      cancel();
    };
    command.promise.then(() => end(), end);
    return send(command, stream);
  };
}
