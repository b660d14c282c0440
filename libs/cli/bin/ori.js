#!/usr/bin/env node
import { launch } from './launch.js';

await launch('ori', () => import('../src/main.ts'));
