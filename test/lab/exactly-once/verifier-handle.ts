import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { followHistory, type Presentation } from './history.ts';
import type { Proof } from './proofs.ts';
import type { Order, VerifierTask, Word } from './verifier-process.ts';

const PROGRAM = fileURLToPath(new URL('verifier-process.ts', import.meta.url));

/** A verifier process, as seen by the runner of the schedules. */
export interface VerifierHandle {
  readonly tag: string;
  readonly pid: number | undefined;
  /** Resolves when it exits or is killed. */
  readonly hasEnded: boolean;
  tell(order: Order): void;
  /** Sends SIGKILL, at whatever point of its work it is. */
  kill(): Promise<void>;
  /** What it wrote since the last call. Also works after it has exited. */
  news(): Presentation[];
  close(): void;
}

/** Starts a process with its task. `heard` receives every proof that it signs. */
export async function startVerifier(
  task: VerifierTask,
  heard: (proofs: readonly Proof[], from: VerifierHandle) => void,
): Promise<VerifierHandle> {
  const child: ChildProcess = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('error', () => {});
  const history = followHistory(task.history);
  const gone = once(child, 'exit');
  const handle: VerifierHandle = {
    tag: task.tag,
    pid: child.pid,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    tell: (order) => void (child.connected && child.send(order, () => {})),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    news: () => history.read(),
    close: () => history.close(),
  };
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (word: Word) => {
      if (word.word === 'ready') resolve();
      else heard(word.proofs, handle);
    });
    gone.then(() => reject(new Error(`the verifier process ${task.tag} ended before it was ready`)));
  });
  child.send(task);
  await ready;
  return handle;
}
