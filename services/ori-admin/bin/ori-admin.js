#!/usr/bin/env node
import { launch } from '@ori/faces/launch';

await launch('ori-admin', () => import('../src/main.ts'));
