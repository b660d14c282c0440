import { writeFile } from 'node:fs/promises';
import { NGINX, startGateway } from '@ori/test-env/gateway';
import { createLogClient } from '@ori/tlog/client';
import { expect, test } from 'vitest';
import { openLogWorld, policyOf, untilSize } from './log-world.ts';
import { appendLines, auditLines } from './signer-lines.ts';

test.skipIf(NGINX === undefined)(
  'through the shipped gateway a client reads checkpoint, tiles and lookup, and tiles can be cached indefinitely',
  async () => {
    await using world = await openLogWorld();
    await writeFile(world.auditFile, '');
    const log = await world.start();
    const lines = auditLines(300);
    await appendLines(world.auditFile, lines);
    const { host } = new URL(log.url);
    await using gateway = await startGateway({ signers: [host], management: [host], log: host });
    const url = `${gateway.url}/log`;
    const client = createLogClient({ policy: policyOf(log), url });
    const head = await untilSize(client, 300);
    const leaves = await client.lookup(lines.map(({ v2 }) => v2));
    expect(leaves.size).toBe(300);
    for (const leaf of leaves.values()) await client.prove(leaf, head);
    const checkpoint = await fetch(`${url}/checkpoint`);
    expect(checkpoint.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(checkpoint.headers.get('cache-control')).toBe('no-store');
    const tile = await fetch(`${url}/tile/0/000`);
    expect(tile.headers.get('content-type')).toBe('application/octet-stream');
    expect(tile.headers.get('cache-control')).toContain('immutable');
    expect((await tile.arrayBuffer()).byteLength).toBe(8192);
    for (const path of ['journal', 'tile/0/000.p/44x', 'tile/0/0', 'tile/0/../checkpoint', 'tile/64/000']) {
      expect((await fetch(`${url}/${path}`)).status).not.toBe(200);
    }
  },
);
