import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A verifier uses the store of the recipe, and the store is asked whether it is usable. */
const DAEMON = `
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { createTestSigner } from '@ori/verifier/testing';
const keys = createLocalKeySet(createTestSigner({ internId: 'int_test' }).jwks);
createVerifier({ internId: 'int_test', keys, replay });
process.on('message', () => replay.ready().then(() => process.send('ready')));
process.on('disconnect', () => process.exit());
`;

/**
 * Runs the block of the verifier's README that contains `line`, word for word, in a process of its own. `ready` resolves
 * once the store is usable, and rejects with what the process wrote if it ended.
 * @param constants the names that the block uses and does not define
 */
export async function startRecipe(line: string, constants: Readonly<Record<string, string>>) {
  const readme = await readFile(new URL('../../../libs/public/verifier/README.md', import.meta.url), 'utf8');
  const block = [...readme.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, code]) => code)
    .find((code) => code?.includes(line));
  if (block === undefined) throw new Error(`README has no block with ${line}`);
  const defined = Object.entries(constants).map(
    ([name, value]) => `const ${name} = ${JSON.stringify(value)};`,
  );
  const code = [...defined, block, DAEMON].join('\n');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let written = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    written += text;
  });
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the daemon ended with ${code}: ${written}`);
  });
  ended.catch(() => undefined);
  const ready = async (): Promise<void> => {
    const answered = once(child, 'message');
    child.send('ready?');
    await Promise.race([answered, ended]);
  };
  await ready();
  return { ready };
}
