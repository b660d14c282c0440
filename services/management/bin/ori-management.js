#!/usr/bin/env node
import { startHardened } from '@ori/runtime/start-hardened';

await startHardened({ prefix: 'MANAGEMENT', folder: import.meta.dirname, workers: true });
