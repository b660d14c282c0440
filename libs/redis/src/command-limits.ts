import { startUnhurriedTimer } from '@ori/runtime/unhurried-timer';
import type { Redis } from 'ioredis';

export interface CommandLimits {
  /** How long one command may take, in milliseconds. */
  readonly commandTimeoutMs: number;
  /** After how long without a byte in answer a connection counts as dead and is closed, in milliseconds. */
  readonly socketTimeoutMs: number;
}

/** Nothing that a service asks is answered with nearly as much; the client keeps a reply in memory until its end. */
const REPLY_BYTES_MAX = 1024 * 1024;

/**
 * Bounds what a node may cost: the time of a command, silence, and bytes that never become a reply. ioredis has time limits of
 * its own, which also pass while this process is too busy to read the answers that are there.
 */
export function limitCommands(node: Redis, { commandTimeoutMs, socketTimeoutMs }: CommandLimits): void {
  let heard = 0;
  let heardSinceReply = 0;
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
    const cancel = startUnhurriedTimer(commandTimeoutMs, () => {
      command.reject(new Error('Command timed out'));
      if (heard > heardBefore) return;
      startUnhurriedTimer(Math.max(0, socketTimeoutMs - commandTimeoutMs), () => {
        if (heard === heardBefore) giveUp('Connection silent');
      });
    });
    command.promise.then(() => {
      heardSinceReply = 0;
      cancel();
    }, cancel);
    return send(command, stream);
  };
}
