import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { rawClient } from '@ori/test-env/raw-client';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { describe, expect, it } from 'vitest';
import { Deadline, DeadlineError } from './deadline.ts';
import { readJsonBody } from './json-body.ts';
import { readChunks } from './read-chunks.ts';

/** A request with a body that the test writes. */
function request(headers: Record<string, string> = {}): IncomingMessage & PassThrough {
  return Object.assign(new PassThrough(), { headers, complete: false }) as unknown as IncomingMessage &
    PassThrough;
}

describe('readJsonBody', () => {
  it('returns the bytes as sent, except for white space between tokens', async () => {
    const req = request();
    const body = readJsonBody(req, { bytesMax: 20 });
    req.write(Buffer.from([0, 255, 34, 10]));
    req.write(Buffer.from([13, 92, 34, 32, 32, 34, 10]));
    req.write(Buffer.from([13, 9]));
    req.end(Buffer.from([32, 239, 187]));
    expect([...(await body)]).toEqual([0, 255, 34, 10, 13, 92, 34, 32, 32, 34, 32, 239, 187]);
  });

  it('returns a body that is not JSON byte for byte', async () => {
    const req = request();
    const chunks: Buffer[] = [];
    const body = readChunks(req, { bytesMax: 20 }, (chunk) => chunks.push(chunk));
    req.write('old 3\n\n');
    req.end('  two\r\n');
    await body;
    expect(Buffer.concat(chunks).toString()).toBe('old 3\n\n  two\r\n');
    const long = request();
    const refused = readChunks(long, { bytesMax: 3 }, () => 0);
    long.end('four');
    await expect(refused).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('accepts a body that is mostly white space, without storing it', async () => {
    const req = request();
    const body = readJsonBody(req, {
      bytesMax: 1_000_000,
      json: { bytesMax: 10, depthMax: 1, valuesMax: 1 },
    });
    req.write(' '.repeat(400_000));
    req.write('{');
    req.end(`}${'\n'.repeat(400_000)}`);
    expect((await body).toString()).toBe(' {} ');
  });

  it.each([
    ['too long', '"123456789"'],
    ['too deep', '[[[]]]'],
    ['with too many values', '[1,2,3,4]'],
  ])('refuses JSON %s after counting all of it, in one piece and in chunks', async (_, json) => {
    const budget = { bytesMax: 10, depthMax: 2, valuesMax: 3 };
    for (const pieces of [[json], json.split('')]) {
      const req = request();
      const body = readJsonBody(req, { bytesMax: 20, json: budget });
      for (const piece of pieces) req.write(piece);
      req.end();
      await expect(body).rejects.toMatchObject({ code: 'json_beyond_budget' });
      const long = request();
      const both = readJsonBody(long, { bytesMax: 20, json: budget });
      for (const piece of pieces) long.write(piece);
      long.end(' '.repeat(20));
      await expect(both).rejects.toMatchObject({ code: 'body_too_large' });
    }
    const fits = request();
    fits.end('[ [ 1 ] , "x" ]');
    expect((await readJsonBody(fits, { bytesMax: 20, json: { ...budget, bytesMax: 20 } })).toString()).toBe(
      '[ [ 1 ] , "x" ]',
    );
  });

  it('returns an empty body', async () => {
    const req = request();
    req.end();
    expect(await readJsonBody(req, { bytesMax: 0 })).toHaveLength(0);
  });

  it('accepts a body of exactly the limit and not one byte more', async () => {
    const fits = request();
    fits.end('12345');
    expect((await readJsonBody(fits, { bytesMax: 5 })).toString()).toBe('12345');
    const over = request();
    over.end('123456');
    await expect(readJsonBody(over, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('refuses an announced size before it reads', async () => {
    const req = request({ 'content-length': '6' });
    await expect(readJsonBody(req, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_too_large' });
    expect(req.readableFlowing).toBe(null);
  });

  it('stops reading at the first byte too many', async () => {
    const req = request();
    const body = readJsonBody(req, { bytesMax: 5 });
    req.write('123');
    req.write('456');
    await expect(body).rejects.toMatchObject({ code: 'body_too_large' });
    expect(req.isPaused()).toBe(true);
  });

  it.each(['gzip', 'br', 'identity, gzip', 'x', ''])('refuses the content encoding %j', async (encoding) => {
    const req = request({ 'content-encoding': encoding });
    await expect(readJsonBody(req, { bytesMax: 5 })).rejects.toMatchObject({
      code: 'content_encoding_unsupported',
    });
    expect(req.readableFlowing).toBe(null);
  });

  it('accepts the content encoding identity', async () => {
    const req = request({ 'content-encoding': 'Identity' });
    req.end('a');
    expect((await readJsonBody(req, { bytesMax: 5 })).toString()).toBe('a');
  });

  it('stops at the deadline', async () => {
    const deadline = new Deadline(50);
    const req = request();
    const body = readJsonBody(req, { bytesMax: 5, deadline });
    req.write('1');
    await expect(body).rejects.toBeInstanceOf(DeadlineError);
    expect(req.isPaused()).toBe(true);
    await expect(readJsonBody(request(), { bytesMax: 5, deadline })).rejects.toBeInstanceOf(DeadlineError);
  });

  it('accepts a body that has already arrived, up to the limit', async () => {
    const whole = (text: string) => {
      const req = Object.assign(request(), { complete: true });
      req.write(text.slice(0, 2));
      req.end(text.slice(2));
      return req;
    };
    expect((await readJsonBody(whole('12345'), { bytesMax: 5 })).toString()).toBe('12345');
    expect(await readJsonBody(Object.assign(request(), { complete: true }), { bytesMax: 5 })).toHaveLength(0);
    await expect(readJsonBody(whole('123456'), { bytesMax: 5 })).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it('waits for the announced length, however much has arrived', async () => {
    const req = request({ 'content-length': '5' });
    req.write('123');
    const body = readJsonBody(req, { bytesMax: 5 });
    req.end('45');
    expect((await body).toString()).toBe('12345');
  });

  it('ends a request that came in one piece, so that the next one can follow', async () => {
    const ended: Promise<unknown>[] = [];
    const server = createServer(async (req, res) => {
      ended.push(once(req, 'end'));
      await Promise.resolve();
      res.end(await readJsonBody(req, { bytesMax: 5 }));
    });
    using client = await rawClient((await serveInTest(server)).port);
    for (const text of ['12345', '67890']) {
      client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n${text}`);
      expect((await client.answer()).body).toBe(text);
    }
    await Promise.all(ended);
  });

  it('reports that the client disconnected', async () => {
    const req = request();
    const body = readJsonBody(req, { bytesMax: 5 });
    req.write('1');
    req.destroy();
    await expect(body).rejects.toMatchObject({ code: 'body_aborted' });
    await expect(readJsonBody(req, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_aborted' });
  });

  it('removes its listeners when it is done', async () => {
    const req = request();
    const before = req.eventNames().length;
    req.end('1');
    await readJsonBody(req, { bytesMax: 5 });
    expect(req.listenerCount('data') + req.listenerCount('error')).toBe(0);
    expect(req.eventNames().length).toBeLessThanOrEqual(before);
  });
});
