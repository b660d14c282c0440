import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { capturedLog } from '@ori/test-env/captured-log';
import { describe, expect, it } from 'vitest';
import { createLogger } from './log.ts';
import { scrub } from './scrub.ts';
import { Secret } from './secret.ts';

const jwt = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl';
const apiKey = `sk-ori-v1-${'0a'.repeat(32)}`;
const signature = 'PrB6phrL9HxAHbXnGkePuzx0EeZwsIX6IfF1BesasFEm7W9JmHk/2aI0IFOkyHDIaCqMOjP34022pQkecmDrDA==';

describe('the log', () => {
  it('writes one JSON line with service, level, time and message', () => {
    const { log, lines } = capturedLog();
    log.info({ answer: 42 }, 'started');
    expect(lines).toEqual([
      { level: 'info', time: expect.stringMatching(/Z$/), service: 'test', answer: 42, msg: 'started' },
    ]);
  });

  it('writes a plain line like any other', () => {
    const { log, lines } = capturedLog();
    const fields = { route: '/v1/{a}', status: 200, bound: false, account: null, said: 'a "word"\n' };
    log.info(fields, 'request');
    log.plain('info', fields, 'request');
    const { said: _, ...unescaped } = fields;
    log.plain('info', unescaped, 'request');
    log.info(unescaped, 'request');
    const [one, other, third, fourth] = lines.map((line) => ({ ...line, time: '' }));
    expect(other).toEqual(one);
    expect(third).toEqual(fourth);
  });

  it('omits plain lines below its level', () => {
    const { log, lines } = capturedLog();
    log.level = 'warn';
    log.plain('info', { status: 200 }, 'request');
    expect(lines).toEqual([]);
  });

  it.each([
    ['a JWT', jwt],
    ['an API key', apiKey],
    ['a signature', signature],
    ['an API key behind a line break', `a\n${apiKey}`],
  ])('never shows %s in a plain line', (_name, secret) => {
    const { log, text } = capturedLog();
    log.plain('info', { note: secret }, 'said');
    expect(text()).not.toContain(jwt);
    expect(text()).not.toContain(apiKey);
    expect(text()).not.toContain(signature);
  });

  it.each([
    ['an Authorization header', { authorization: 'canary' }],
    ['any header', { req: { headers: { 'x-custom': 'canary' } } }],
    ['a cookie', { nested: { Cookie: 'canary' } }],
    ['a proof header', { 'X-Ori-Invoke-Signature': 'canary' }],
    ['a token by name', { deep: { er: { accessToken: 'canary', refresh_token: 'canary' } } }],
    ['a client secret', { clientSecret: { value: 'canary' } }],
    ['a seed', { seed: 'canary' }],
    ['a body', { body: 'canary' }],
    ['a Secret', { url: new Secret('canary') }],
    ['bytes', { bytes: Buffer.from('canary'), list: [new Uint8Array([1])] }],
    [
      'an error’s other properties',
      { err: Object.assign(new Error('x'), { command: { args: ['canary'] } }) },
    ],
  ])('never shows %s', (_name, fields) => {
    const { log, text } = capturedLog();
    log.error(fields, 'said');
    expect(text()).not.toContain('canary');
    expect(text()).not.toContain(Buffer.from('canary').toString('hex'));
    expect(text()).not.toContain(JSON.stringify([...Buffer.from('canary')]).slice(1, -1));
  });

  it.each([
    ['a JWT', jwt],
    ['an API key', apiKey],
    ['a signature', signature],
    ['a bearer', 'Bearer abc.def'],
    ['basic credentials', 'BASIC dXNlcjpwYXNz'],
    ['a password in a URL', 'redis://user:pass@host'],
  ])('never shows %s in a text, a message or an error', (_name, secret) => {
    const { log, text } = capturedLog();
    const error = new Error(`wrong ${secret}`, { cause: new Error(`because of ${secret}`) });
    log.info({ note: `see ${secret}`, list: [secret] }, `got ${secret}`);
    log.error(`only ${secret}`);
    log.error(error);
    log.error({ err: error }, 'with %s', secret);
    log.child({ note: secret }).info('child');
    expect(text()).not.toContain(secret);
    expect(text()).not.toContain(secret.split(/[. ]|:\/\//).at(-1));
  });

  it('shows an error by class, code, message and causes', () => {
    const { log, lines } = capturedLog();
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    log.error({ err: Object.assign(new TypeError('no', { cause }), { code: 'store_down' }) }, 'failed');
    expect(lines[0]).toMatchObject({
      msg: 'failed',
      err: { class: 'TypeError', code: 'store_down', message: 'no', causes: ['Error: connect ECONNREFUSED'] },
    });
  });

  it('handles a circular value', () => {
    const { log, lines } = capturedLog();
    const loop: Record<string, unknown> = {};
    log.info(Object.assign(loop, { loop }), 'round');
    expect(lines).toHaveLength(1);
  });
});

it('does not change ordinary text and JSON', () => {
  for (const text of ['the intern int_7Qm2 of ws_1 at 10:00', '{"url":"http://h","mail":"a@b"}']) {
    expect(scrub(text)).toBe(text);
  }
});

it('truncates long text, and redacts a token at the cut completely', () => {
  const { log, lines, text } = capturedLog();
  log.error({ note: 'a '.repeat(5000), err: new Error(`${'b '.repeat(495)}${jwt}`) }, 'long');
  expect(text().length).toBeLessThan(3000);
  expect(text()).not.toContain(jwt.slice(0, 10));
  expect(lines).toHaveLength(1);
});

it('waits for the exit of the process once, however many loggers there are', () => {
  const listeners = () => process.listenerCount('exit');
  const before = listeners();
  for (let index = 0; index < 3; index += 1) createLogger({ service: 'test', level: 'info' });
  expect(listeners() - before).toBeLessThanOrEqual(1);
});

it.each([
  ['stops at once', 'process.exit(0)', 0],
  ['fails', 'throw new Error()', 1],
  ['goes on', '', 0],
])('does not lose a line of a process that %s', async (_how, end, code) => {
  const script = `
    const { createLogger } = await import('./log.ts');
    const log = createLogger({ service: 'test', level: 'info' });
    log.info('first');
    await null;
    log.info('second');
    ${end}
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: import.meta.dirname });
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const lines = output.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['first', 'second']);
  expect(status).toBe(code);
});
