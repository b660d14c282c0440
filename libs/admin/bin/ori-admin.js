#!/usr/bin/env node
import { launch } from '@ori/terminal/launch';

await launch('ori-admin', () => import('../src/main.ts'));
