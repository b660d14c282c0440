#!/usr/bin/env node
import { launch } from '@ori/cli/launch';

await launch('ori-admin', () => import('../src/admin/main.ts'));
