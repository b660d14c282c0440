#!/usr/bin/env node
import { startHardened } from '@ori/runtime/start-hardened';

await startHardened({ prefix: 'GUARD', folder: import.meta.dirname, keeps: ['GUARD_SPOOL_FOLDER'] });
