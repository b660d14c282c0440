import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningWitness, startWitness } from '@ori/log/witness';
import { loadWitnessConfig, type WitnessConfig } from '@ori/log/witness-config';
import { createLogger } from '@ori/runtime/log';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';

export interface TestWitness extends RunningWitness, AsyncDisposable {
  /** A policy of the log, this witness, and the log's own completeness. */
  policy(url?: string): string;
  /** The path of its file. */
  readonly policyFile: string;
}

/** A witness of the log with this seed, in its own folder. */
export async function startTestWitness(
  origin: string,
  seed: string,
  changes: Partial<WitnessConfig> = {},
): Promise<TestWitness> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-witness-'));
  const vkeys = renderVkeys(createLogKeys(origin, seed));
  const logs = join(folder, 'logs');
  await writeFile(logs, `log ${vkeys.log}\nlog ${vkeys.logMlDsa}\nquorum none\n`);
  const config = loadWitnessConfig({
    WITNESS_NAME: 'witness.example/w1',
    WITNESS_KEY: randomBytes(32).toString('base64'),
    WITNESS_POLICY_FILE: logs,
    WITNESS_FOLDER: join(folder, 'witness'),
    WITNESS_PORT: '0',
    WITNESS_OPS_PORT: '0',
  });
  const running = await startWitness(
    { ...config, shutdownIdleMs: 0, ...changes },
    { log: createLogger({ service: 'witness', level: 'silent' }) },
  );
  const policy = (url = '') =>
    [
      `log ${vkeys.log} ${url}`,
      `log ${vkeys.logMlDsa}`,
      `witness w1 ${running.vkey} ${running.url}`,
      `witness w1-ml-dsa ${running.vkeyMlDsa} ${running.url}`,
      `witness complete ${vkeys.complete}`,
      `witness complete-ml-dsa ${vkeys.completeMlDsa}`,
      'group w all w1 w1-ml-dsa',
      'quorum w\n',
    ].join('\n');
  const policyFile = join(folder, 'policy');
  await writeFile(policyFile, policy());
  return {
    ...running,
    policy,
    policyFile,
    async [Symbol.asyncDispose]() {
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}
