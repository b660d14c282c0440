import { parentPort } from 'node:worker_threads';
import { findRefused } from './linear-patterns.ts';

parentPort?.on('message', (patterns: readonly string[]) => parentPort?.postMessage(findRefused(patterns)));
