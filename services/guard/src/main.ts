import { runGuard } from './run-guard.ts';

await runGuard();
