import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { ConfigError, integer, secret, text } from './config.ts';
import {
  type Program,
  type ProgramConfig,
  type RunnableService,
  type RunningService,
  runService,
} from './run-service.ts';

class Exited extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** A process whose exit throws, so that nothing runs after it, as in reality. */
function programOf(...words: string[]) {
  const signals = new EventEmitter();
  const said = { out: '', err: '' };
  const ended = Promise.withResolvers<number>();
  const program = {
    argv: ['node', 'main.ts', ...words],
    env: { THING_PORT: '1' },
    on: signals.on.bind(signals),
    exit: (code: number) => {
      ended.resolve(code);
      if (code !== 0) throw new Exited(code);
    },
    stdout: { write: (text: string) => (said.out += text) },
    stderr: { write: (text: string) => (said.err += text) },
  } as unknown as Program;
  return { program, signals, said, ended: ended.promise };
}

const service = (
  overrides: Partial<RunnableService<ProgramConfig>> = {},
): RunnableService<ProgramConfig> => ({
  prefix: 'THING',
  settings: {},
  load: () => ({ logLevel: 'silent' }),
  start: async () => ({ stop: async () => {} }),
  ...overrides,
});

it('check-config only validates the configuration, and starts nothing', async () => {
  const { program, said } = programOf('check-config');
  const start = () => Promise.reject(new Error('started'));
  await runService(program, service({ start }));
  expect(said.out).toContain('THING_… configuration is valid');
});

it('check-config says what a valid configuration leaves open', async () => {
  const { program, said } = programOf('check-config');
  await runService(program, service({ leavesOpen: () => ['THING_REQUIRE_LOCK=false: the door is open'] }));
  expect(said.out).toBe('the THING_… configuration is valid\nTHING_REQUIRE_LOCK=false: the door is open\n');
});

it('prints every setting without a configuration', async () => {
  const { program, said } = programOf('settings');
  const settings = {
    databaseUrl: secret({ doc: 'Where the facts are' }),
    waitMs: integer({ min: 1, max: 60, default: 5, doc: 'How long it waits', unit: 'ms' }),
    name: text({ doc: 'What it is called', optional: true }),
  };
  const load = () => {
    throw new ConfigError(['THING_DATABASE_URL: required']);
  };
  await runService(program, service({ settings, load }));
  expect(said.out).toBe(`THING_DATABASE_URL or THING_DATABASE_URL_FILE (required)
  Where the facts are (a secret)

THING_WAIT_MS (default 5 ms)
  How long it waits (an integer from 1 to 60)

THING_NAME (optional)
  What it is called (a string)
`);
});

it('prints its version without a configuration', async () => {
  const { program, said } = programOf('--version');
  const load = () => {
    throw new ConfigError(['THING_PORT: required']);
  };
  await runService(program, service({ load }));
  expect(said.out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it('prints its commands for --help', async () => {
  const { program, said } = programOf('--help');
  await runService(program, service());
  expect(said).toEqual({ out: 'usage: main.ts [check-config | settings | --version | --help]\n', err: '' });
});

it('names the settings of a port that is taken', async () => {
  const { program, said } = programOf();
  const taken = Object.assign(new Error('address in use'), { code: 'EADDRINUSE' });
  const opsPort = integer({ min: 1, max: 2, default: 1, doc: 'The other port', unit: 'port' });
  const options = { settings: { opsPort }, start: () => Promise.reject(taken) };
  await expect(runService(program, service(options))).rejects.toMatchObject({ code: 1 });
  expect(said.err).toContain('THING_PORT and THING_OPS_PORT');
});

it.each([
  [['serve'], {}, 64],
  [['check-config', 'twice'], {}, 64],
  [['settings', 'twice'], {}, 64],
  [
    [],
    {
      load: () => {
        throw new ConfigError(['THING_PORT: expected an integer']);
      },
    },
    2,
  ],
  [[], { start: () => Promise.reject(new Error('no such place')) }, 1],
] as const)('ends %j with its own exit code', async (words, overrides, code) => {
  const { program, said } = programOf(...words);
  await expect(runService(program, service(overrides))).rejects.toMatchObject({ code });
  expect(said.err).not.toBe('');
});

it.each<Partial<RunnableService<ProgramConfig>>>([
  {
    load: () => {
      throw new ConfigError(['THING_PORT: expected an integer', 'THING_PROT: unknown name']);
    },
  },
  { load: () => ({ logLevel: 'silent', requireHardened: true }) },
])('check-config repeats every problem of a configuration that a start refuses, %#', async (overrides) => {
  const start = programOf();
  const check = programOf('check-config');
  for (const { program } of [start, check])
    await expect(runService(program, service(overrides))).rejects.toMatchObject({ code: 2 });
  expect(start.said.err).toContain('THING_');
  expect(check.said).toEqual(start.said);
});

it('stops gracefully at the first signal', async () => {
  const { program, signals, ended } = programOf();
  let stopped = 0;
  const stop = async () => {
    stopped += 1;
  };
  await runService(program, service({ start: async () => ({ stop }) }));
  signals.emit('SIGTERM');
  expect(await ended).toBe(0);
  expect(stopped).toBe(1);
});

it('exits immediately at the second signal', async () => {
  const { program, signals } = programOf();
  await runService(program, service({ start: async () => ({ stop: () => new Promise(() => {}) }) }));
  signals.emit('SIGTERM');
  expect(() => signals.emit('SIGINT')).toThrow('exit 1');
});

it('reopens its files at SIGHUP, and logs a failure', async () => {
  const { program, signals, said } = programOf();
  const asked = Promise.withResolvers<void>();
  const reopen = async () => {
    asked.resolve();
    throw new Error('the file is gone');
  };
  await runService(program, service({ start: async () => ({ stop: async () => {}, reopen }) }));
  signals.emit('SIGHUP');
  await asked.promise;
  await new Promise(setImmediate);
  expect(said.err).toContain('the file is gone');
});

it('reopens its files after a start during which SIGHUP came', async () => {
  const { program, signals } = programOf();
  const { promise, resolve } = Promise.withResolvers<RunningService>();
  const running = runService(program, service({ start: () => promise }));
  signals.emit('SIGHUP');
  let reopened = 0;
  const reopen = async () => {
    reopened += 1;
  };
  resolve({ stop: async () => {}, reopen });
  await running;
  expect(reopened).toBe(1);
});

it('exits immediately on a signal while it waits to start', async () => {
  const { program, signals, ended } = programOf();
  void runService(program, service({ start: () => new Promise(() => {}) }));
  signals.emit('SIGTERM');
  expect(await ended).toBe(0);
});
