import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const CLI = new URL('../../services/ori/src/', import.meta.url).href;

/** The packages that are loaded with some modules of the command. */
async function packagesWith(modules: readonly string[]): Promise<string[]> {
  const script = `
    const { registerHooks } = await import('node:module');
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        packages.add(/\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1] ?? '');
        return next(url, context);
      },
    });
    for (const module of ${JSON.stringify(modules)}) await import(new URL(module, ${JSON.stringify(CLI)}).href);
    console.log(JSON.stringify([...packages].filter((name) => name !== '')));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return JSON.parse(stdout) as string[];
}

test('a command loads the packages that it needs, and no other', async () => {
  expect(await packagesWith(['program.ts'])).toEqual(['commander']);
  expect(await packagesWith(['program.ts', 'commands/sign.ts'])).toEqual(['commander']);
  expect(await packagesWith(['core/refusal.ts'])).toEqual(['zod']);
});
