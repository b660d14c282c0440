import { setTimeout as pause } from 'node:timers/promises';
import type { Reply } from './http-client.ts';

const REPEATS_MAX = 10;
const REPEAT_AFTER_MS = 200;

/** Repeats a request whose response is marked as retryable. */
export interface Patience {
  /** How many times a request was repeated. */
  readonly repeats: number;
  ask(ask: () => Promise<Reply>): Promise<Reply>;
}

/**
 * For tests that send thousands of requests for another purpose: on a busy machine a command
 * to Redis or PostgreSQL may exceed its time limit, and the answer is then a retryable 500.
 */
export function createPatience(): Patience {
  let repeats = 0;
  return {
    get repeats() {
      return repeats;
    },
    async ask(ask) {
      for (let left = REPEATS_MAX; ; left -= 1) {
        const reply = await ask();
        if (reply.status !== 500 || !reply.text.includes('"retryable":true') || left === 0) return reply;
        repeats += 1;
        await pause(REPEAT_AFTER_MS);
      }
    },
  };
}
