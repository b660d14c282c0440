#!/usr/bin/env node
import { startHardened } from '@ori/runtime/start-hardened';

await startHardened({
  prefix: 'SIGNER',
  folder: import.meta.dirname,
  writes: ['SIGNER_AUDIT_FILE'],
  // With 16 a proof takes more CPU time: `npm run bench -- --rows sign`.
  youngSpaceMib: 32,
});
