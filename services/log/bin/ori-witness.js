#!/usr/bin/env node
import { startHardened } from '@ori/runtime/start-hardened';

await startHardened({
  prefix: 'WITNESS',
  folder: import.meta.dirname,
  source: 'src/witness/main.ts',
  keeps: ['WITNESS_FOLDER'],
  compact: true,
});
