#!/usr/bin/env node
import { launch } from '@ori/faces/launch';

await launch('ori', async () => (await import('../src/main.ts')).main());
