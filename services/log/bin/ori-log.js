#!/usr/bin/env node
import { startHardened } from '@ori/runtime/start-hardened';

await startHardened({
  prefix: 'LOG',
  folder: import.meta.dirname,
  keeps: ['LOG_FOLDER', 'LOG_GUARD_FOLDER'],
  follows: ['LOG_AUDIT_FILES'],
  compact: true,
});
