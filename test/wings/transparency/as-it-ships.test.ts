import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shipped } from '@ori/test-env/programs';
import { openRoom } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { createLogClient } from '@ori/tlog/client';
import { parsePolicy } from '@ori/tlog/policy';
import { expect, test } from 'vitest';
import { environmentOf, valuesOf } from '../../deploy/systemd/unit.ts';
import { startTestWitness } from './log-witness.ts';
import { untilSize } from './log-world.ts';
import { appendLines, auditLines } from './signer-lines.ts';

const UNIT = 'ori-log.service';

test('a hardened log, as the systemd unit starts it, has its checkpoints cosigned, and goes on after a restart', async () => {
  await using room = await openRoom('ori-shipped-log');
  const { directory } = room;
  const place = (name: string) => join(directory, name);
  for (const name of [...valuesOf(UNIT, 'StateDirectory').join(' ').split(' '), 'audit'])
    await mkdir(place(name));
  const seed = randomBytes(32).toString('base64');
  await writeFile(place('log-key'), seed, { mode: 0o400 });
  const environment = environmentOf(UNIT, { d: directory, L: directory, S: directory });
  await using witness = await startTestWitness(environment['LOG_ORIGIN'] ?? '', seed);
  const auditFile = place('audit/audit-1.jsonl');
  await appendFile(auditFile, '');
  let url = '';
  const server = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [await shipped('log/ori-log')],
    ready: /"msg":"listening"/,
    farewell: 'TERM',
    environment: {
      ...environment,
      LOG_PORT: '0',
      LOG_OPS_PORT: '0',
      LOG_POLICY_FILE: witness.policyFile,
      LOG_AUDIT_FILES: auditFile,
      LOG_TRUST_GATEWAY: 'false',
    },
    hear(line) {
      if (line.includes('"msg":"listening"')) url = JSON.parse(line).url;
    },
  });
  const expectWitnessed = async (size: number) => {
    const client = createLogClient({ policy: parsePolicy(witness.policy()), url });
    const head = await untilSize(client, size);
    expect([head.size, head.witnessed.has('w1')]).toEqual([size, true]);
  };

  await server.start();
  const words = (await readFile(`/proc/${server.pid}/cmdline`, 'utf8')).split('\0');
  expect(words).toContain('--permission');
  await appendLines(auditFile, auditLines(300));
  await expectWitnessed(300);
  await server.end('SIGTERM');
  await rename(auditFile, `${auditFile}-1`);
  await appendLines(auditFile, auditLines(2, Date.now() + 1000));
  await server.start();
  // Cosigned, because it extends what was cosigned before.
  await expectWitnessed(302);
});
