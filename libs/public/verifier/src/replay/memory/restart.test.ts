import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { DaemonTask } from '@ori/test-env/verifier/daemon';
import { expect, test } from 'vitest';
import { createTestSigner } from '../../testing.ts';

const DAEMON = fileURLToPath(import.meta.resolve('@ori/test-env/verifier/daemon'));
const PATH = '/api/invoke';
const BODY = '{}';

/** A daemon in its own process, until it is killed. */
async function startDaemon(task: DaemonTask) {
  const child = fork(DAEMON, { stdio: 'inherit' });
  child.send(task);
  const [port] = await once(child, 'message');
  return {
    async present(headers: object): Promise<string> {
      const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
        method: 'POST',
        body: BODY,
        headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      });
      const answer = (await response.json()) as { error?: { code: string } };
      return answer.error?.code ?? 'accepted';
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

test('a daemon that is killed and restarted accepts no proof from before the restart', async () => {
  const signer = createTestSigner({ internId: 'int_1' });
  const task = { internId: 'int_1', jwks: signer.jwks };
  const accepted: object[] = [];
  for (let life = 0; life < 4; life += 1) {
    await using daemon = await startDaemon(task);
    for (const headers of accepted) {
      expect(await daemon.present(headers)).toMatch(/^proof_(?:before_fence|expired)$/);
    }
    const acceptOne = async (): Promise<boolean> => {
      const headers = signer.sign({ path: PATH, body: BODY });
      const verdict = await daemon.present(headers);
      if (verdict === 'accepted') accepted.push(headers);
      return verdict === 'accepted';
    };
    await expect.poll(acceptOne, { timeout: 5000, interval: 20 }).toBe(true);
    expect(await daemon.present(accepted.at(-1) ?? {})).toBe('nonce_replayed');
  }
  expect(accepted).toHaveLength(4);
});
