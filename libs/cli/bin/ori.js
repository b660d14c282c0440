#!/usr/bin/env node
import { launch } from '@ori/terminal/launch';

await launch('ori', () => import('../src/main.ts'));
