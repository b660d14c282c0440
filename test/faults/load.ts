import type { Reply } from '../env/http-client.ts';

/** One kind of request, and its answer while nothing is broken. */
export interface Shape {
  readonly name: string;
  readonly well: number;
  ask(): Promise<Reply> | Reply;
}

export interface Answered {
  readonly shape: string;
  readonly reply: Reply;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Sends requests of every kind at a fixed rate until stopped, then waits for the last response. */
export function startLoad(shapes: readonly Shape[], everyMs: number) {
  const asked: Promise<Answered>[] = [];
  const ask = async ({ name, ask }: Shape): Promise<Answered> => {
    const startedAt = performance.now();
    const reply = await ask();
    return { shape: name, reply, startedAt, endedAt: performance.now() };
  };
  const timer = setInterval(() => {
    for (const shape of shapes) {
      const answered = ask(shape);
      answered.catch(() => {});
      asked.push(answered);
    }
  }, everyMs);
  return {
    end(): Promise<Answered[]> {
      clearInterval(timer);
      return Promise.all(asked);
    },
  };
}
