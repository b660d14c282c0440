import { parentPort } from 'node:worker_threads';
import { type Application, apply, judge } from './linear-patterns.ts';

parentPort?.on('message', (asked: readonly string[] | Application) =>
  parentPort?.postMessage('filters' in asked ? apply(asked) : judge(asked)),
);
