import { keepCompiled } from '@ori/faces/compile-cache';

keepCompiled(process.env);

const { run } = await import('./program.ts');
await run({ env: process.env, home: process.cwd() });
