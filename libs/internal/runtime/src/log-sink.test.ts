import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createLogSink, type SinkSystem } from './log-sink.ts';

/** Logs 8 MiB in many turns, reports that on standard error, and ends. */
const TALKER = `
  const { createLogger } = await import('./log.ts');
  const log = createLogger({ service: 'test', level: 'info' });
  for (let turn = 0; turn < 1000; turn++) {
    for (let line = 0; line < 8; line++) log.info('x'.repeat(1000));
    await new Promise(setImmediate);
  }
  process.stderr.write('went on');
`;

const talk = (end = '') =>
  spawn(process.execPath, ['--input-type=module', '-e', TALKER + end], { cwd: import.meta.dirname });

test('a stuck reader of standard output does not block the process', async () => {
  const child = talk();
  const ended = once(child, 'exit');
  let said = '';
  for await (const words of child.stderr) {
    said += words;
    if (said.includes('went on')) break;
  }
  expect(said).toBe('went on');
  const output = await text(child.stdout);
  const lines = output.trim().split('\n');
  const dropped = lines.map((line) => JSON.parse(line).dropped ?? 0).reduce((sum, count) => sum + count);
  const told = lines.filter((line) => line.includes('log lines dropped')).length;
  expect(lines.length - told + dropped).toBe(8000);
  expect(dropped).toBeGreaterThan(0);
  expect(await ended).toEqual([0, null]);
});

test('a process without a reader of its standard output exits without hanging', async () => {
  const child = talk('await new Promise((done) => setTimeout(done, 500)); process.exit(3);');
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
});

test.skipIf(!existsSync('/dev/full'))('a process whose output is on a full disk exits', async () => {
  const full = openSync('/dev/full', 'w');
  const script =
    "(await import('./log.ts')).createLogger({ service: 'test', level: 'info' }).info('x'); process.exit(3);";
  const stdio: ['ignore', number, 'inherit'] = ['ignore', full, 'inherit'];
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    stdio,
  });
  expect(await once(child, 'exit')).toEqual([3, null]);
  closeSync(full);
});

test('a reader of standard output that disconnects does not end the process', async () => {
  const child = talk();
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(said).toBe('went on');
  expect(code).toBe(0);
});

test('lines of consecutive turns share a write', async () => {
  const writes: string[] = [];
  const system = {
    write(_fd: number, bytes: Buffer, _offset: number, length: number, _at: null, done: Done) {
      writes.push(bytes.toString());
      done(null, length);
    },
    on: () => undefined,
  } as unknown as SinkSystem;
  const sink = createLogSink(1, 'test', system);
  sink.write('first\n');
  await new Promise(setImmediate);
  sink.write('second\n');
  await expect.poll(() => writes).toEqual(['first\nsecond\n']);
});

test('lines that the system does not accept now are retried, and a truncated one is not continued', async () => {
  const output: string[] = [];
  const answers = ['EAGAIN', 3, 'EIO'];
  const system = {
    write(_fd: number, bytes: Buffer, _offset: number, length: number, _at: null, done: Done) {
      const answer = answers.shift();
      if (typeof answer === 'string') return done(Object.assign(new Error(), { code: answer }), 0);
      const taken = answer ?? length;
      output.push(bytes.subarray(0, taken).toString());
      done(null, taken);
    },
    writeSync: () => 0,
    on: () => undefined,
  } as unknown as SinkSystem;
  const sink = createLogSink(1, 'test', system);
  sink.write('first\n');
  await expect.poll(() => answers.length).toBe(0);
  sink.write('second\n');
  await expect.poll(() => output.join('')).toBe('fir\nsecond\n');
});

type Done = (error: Error | null, written: number) => void;
