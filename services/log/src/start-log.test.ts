import { writeFile } from 'node:fs/promises';
import { clientOf, openLogWorld, untilSize } from '@ori/test-env/log-world';
import { appendLines, auditLines } from '@ori/test-env/signer-lines';
import { hasCommitment, parseEntry } from '@ori/tlog/entry';
import { expect, it } from 'vitest';

it('each line is one leaf, which can be found by its proof and is proven by the tiles', async () => {
  await using world = await openLogWorld();
  await writeFile(world.auditFile, '');
  const log = await world.start();
  const client = clientOf(log);
  const lines = auditLines(700);
  await appendLines(world.auditFile, lines.slice(0, 300));
  await untilSize(client, 300);
  await appendLines(world.auditFile, lines.slice(300));
  const head = await untilSize(client, 700);
  expect(head.size).toBe(700);
  const leaves = await client.lookup(lines.map(({ v2 }) => v2));
  expect(leaves.size).toBe(700);
  for (const [at, { v2 }] of lines.entries()) {
    const leaf = leaves.get(Buffer.from(v2).toString('hex'));
    expect(leaf?.index).toBe(at);
    if (leaf === undefined) continue;
    expect(hasCommitment(parseEntry(leaf.entry), v2)).toBe(true);
    await client.prove(leaf, head);
  }
});
