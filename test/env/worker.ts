import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that answers one message at a time with the result of its job, by `answer`. */
export interface Worker<Order, Answer> extends AsyncDisposable {
  readonly pid: number | undefined;
  ask(order: Order): Promise<Answer>;
}

/**
 * @param file the path of a module that calls `answer`
 * @param flags of Node
 */
export function startWorker<Order extends object | number, Answer>(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Worker<Order, Answer> {
  const child = fork(file, args, { execArgv: ['--expose-gc', ...flags] });
  return {
    pid: child.pid,
    async ask(order) {
      const answered = once(child, 'message');
      child.send(order);
      const [{ answer, failure }] = (await answered) as [{ answer?: Answer; failure?: string }];
      if (answer === undefined) throw new Error(`${file} ${args.join(' ')}: ${failure}`);
      return answer;
    },
    [Symbol.asyncDispose]: async () => void child.kill('SIGKILL'),
  };
}

/** Answers each message of the parent process with the result of `job`, and exits with the parent. */
export function answer<Order>(job: (order: Order) => Promise<unknown>): void {
  process.on('message', (order: Order) => {
    job(order).then(
      (answer) => process.send?.({ answer }),
      (error: Error) => process.send?.({ failure: error.stack }),
    );
  });
  process.on('disconnect', () => process.exit());
}
