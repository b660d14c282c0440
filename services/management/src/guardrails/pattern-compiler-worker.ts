import { parentPort } from 'node:worker_threads';
import { judge } from './linear-patterns.ts';

parentPort?.on('message', (patterns: readonly string[]) => parentPort?.postMessage(judge(patterns)));
