#!/usr/bin/env node
import { startHardened } from '@ori/runtime/start-hardened';

await startHardened({ prefix: 'SIGNER', folder: import.meta.dirname, writes: ['SIGNER_AUDIT_FILE'] });
