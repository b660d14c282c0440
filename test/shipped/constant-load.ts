import { setTimeout as pause } from 'node:timers/promises';

/** The outcome of every request, in the order in which they were sent. */
export interface Load<T> {
  /** Stops sending and resolves with the outcomes once every request has finished. */
  end(): Promise<PromiseSettledResult<T>[]>;
}

/** Sends at a constant rate, without waiting for responses. */
export function startLoad<T>(perSecond: number, ask: () => Promise<T>): Load<T> {
  const outcomes: Promise<PromiseSettledResult<T>>[] = [];
  let ended = false;
  let begun = performance.now();
  const send = async () => {
    while (!ended) {
      // Sends all requests that are due, so that a late timer skips none, but sends no burst after a longer stall.
      const now = performance.now();
      const behindMs = now - begun - (outcomes.length / perSecond) * 1000;
      if (behindMs > 1000) begun += behindMs - 1000;
      const due = Math.floor(((now - begun) / 1000) * perSecond);
      while (outcomes.length < due) outcomes.push(settled(ask()));
      await pause(1000 / perSecond);
    }
  };
  const sending = send();
  return {
    async end() {
      ended = true;
      await sending;
      return Promise.all(outcomes);
    },
  };
}

async function settled<T>(outcome: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([outcome]);
  return result;
}
