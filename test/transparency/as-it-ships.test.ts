import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilSize } from '@ori/test-env/log-world';
import { shipped } from '@ori/test-env/programs';
import { openRoom, type Room } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { appendLines, auditLines } from '@ori/test-env/signer-lines';
import { createLogClient } from '@ori/tlog/client';
import { createLogKeys } from '@ori/tlog/log-keys';
import { renderVkey } from '@ori/tlog/note';
import { parsePolicy } from '@ori/tlog/policy';
import { expect, test } from 'vitest';
import { environmentOf, valuesOf } from '../deploy/systemd/unit.ts';

/** Starts a program as a deployment does. @returns the members of its line `listening`, and its command line */
async function startProgram(room: Room, program: string, environment: Record<string, string>) {
  let listening = '';
  const server = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [program],
    ready: /"msg":"listening"/,
    farewell: 'TERM',
    environment,
    hear(line) {
      if (line.includes('"msg":"listening"')) listening = line;
    },
  });
  await server.start();
  const words = (await readFile(`/proc/${server.pid}/cmdline`, 'utf8')).split('\0');
  return { server, words, ...(JSON.parse(listening) as Record<'url' | 'vkey' | 'log' | 'complete', string>) };
}

/** What systemd provides to a unit: folders, credential and environment. The system chooses the ports. */
async function environmentIn({ directory }: Room, service: 'log' | 'witness') {
  const unit = `ori-${service}.service`;
  for (const name of valuesOf(unit, 'StateDirectory').join(' ').split(' '))
    await mkdir(join(directory, name));
  await writeFile(join(directory, `${service}-key`), randomBytes(32).toString('base64'), { mode: 0o400 });
  const prefix = service.toUpperCase();
  const environment = environmentOf(unit, { d: directory, L: directory, S: directory });
  return { ...environment, [`${prefix}_PORT`]: '0', [`${prefix}_OPS_PORT`]: '0' };
}

test('a hardened witness, as the systemd unit starts it, cosigns the checkpoints of a hardened log', async () => {
  await using room = await openRoom('ori-witnessed');
  const place = (name: string) => join(room.directory, name);
  const environment = await environmentIn(room, 'log');
  const seed = await readFile(place('log-key'), 'utf8');
  const logVkey = renderVkey(createLogKeys(environment['LOG_ORIGIN'] as string, seed).logKey);
  await writeFile(place('logs.policy'), `log ${logVkey}\nquorum none\n`);
  const witness = await startProgram(room, await shipped('witness/ori-witness'), {
    ...(await environmentIn(room, 'witness')),
    WITNESS_POLICY_FILE: place('logs.policy'),
    WITNESS_HOST: '127.0.0.1',
  });
  const policy = `log ${logVkey}\nwitness w1 ${witness.vkey} ${witness.url}\nquorum w1\n`;
  await writeFile(place('witnesses.policy'), policy);
  await mkdir(place('audit'));
  const auditFile = place('audit/audit-1.jsonl');
  const startLog = async () =>
    startProgram(room, await shipped('log/ori-log'), {
      ...environment,
      LOG_POLICY_FILE: place('witnesses.policy'),
      LOG_AUDIT_FILES: auditFile,
      LOG_TRUST_GATEWAY: 'false',
    });
  const expectWitnessed = async (url: string, size: number) => {
    const head = await untilSize(createLogClient({ policy: parsePolicy(policy), url }), size);
    expect([head.size, [...head.witnessed.keys()]]).toEqual([size, ['w1']]);
  };

  await appendFile(auditFile, '');
  const log = await startLog();
  for (const { words } of [witness, log]) expect(words).toContain('--permission');
  await appendLines(auditFile, auditLines(300));
  await expectWitnessed(log.url, 300);
  await log.server.end('SIGTERM');
  await rename(auditFile, `${auditFile}-1`);
  await appendLines(auditFile, auditLines(2, Date.now() + 1000));
  // Cosigned, because it extends what was cosigned before.
  await expectWitnessed((await startLog()).url, 302);
});
