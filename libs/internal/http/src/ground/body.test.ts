import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { rawClient } from '@ori/test-env/raw-client';
import { serveInTest } from '@ori/test-env/serve-in-test';
import { describe, expect, it } from 'vitest';
import { readBody, readChunks } from './body.ts';
import { Deadline, DeadlineError } from './deadline.ts';

/** A request with a body that the test writes. */
function request(headers: Record<string, string> = {}): IncomingMessage & PassThrough {
  return Object.assign(new PassThrough(), { headers, complete: false }) as unknown as IncomingMessage &
    PassThrough;
}

describe('readBody', () => {
  it('returns the bytes as sent, in chunks of any size', async () => {
    const sent = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 256));
    for (const size of [1, 7, 400, 1000]) {
      const req = request();
      const body = readBody(req, { bytesMax: 1000 });
      for (let at = 0; at < sent.length; at += size) req.write(sent.subarray(at, at + size));
      req.end();
      expect(await body).toEqual(sent);
    }
  });

  it('passes on chunks, and counts them', async () => {
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

  it('returns an empty body', async () => {
    const req = request();
    req.end();
    expect(await readBody(req, { bytesMax: 0 })).toHaveLength(0);
  });

  it('accepts a body of exactly the limit and not one byte more', async () => {
    const fits = request();
    fits.end('12345');
    expect((await readBody(fits, { bytesMax: 5 })).toString()).toBe('12345');
    const over = request();
    over.end('123456');
    await expect(readBody(over, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('refuses an announced size before it reads', async () => {
    const req = request({ 'content-length': '6' });
    await expect(readBody(req, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_too_large' });
    expect(req.readableFlowing).toBe(null);
  });

  it('stops reading at the first byte too many', async () => {
    const req = request();
    const body = readBody(req, { bytesMax: 5 });
    req.write('123');
    req.write('456');
    await expect(body).rejects.toMatchObject({ code: 'body_too_large' });
    expect(req.isPaused()).toBe(true);
  });

  it.each(['gzip', 'br', 'identity, gzip', 'x', ''])('refuses the content encoding %j', async (encoding) => {
    const req = request({ 'content-encoding': encoding });
    await expect(readBody(req, { bytesMax: 5 })).rejects.toMatchObject({
      code: 'content_encoding_unsupported',
    });
    expect(req.readableFlowing).toBe(null);
  });

  it('accepts the content encoding identity', async () => {
    const req = request({ 'content-encoding': 'Identity' });
    req.end('a');
    expect((await readBody(req, { bytesMax: 5 })).toString()).toBe('a');
  });

  it('stops at the deadline', async () => {
    const deadline = new Deadline(50);
    const req = request();
    const body = readBody(req, { bytesMax: 5, deadline });
    req.write('1');
    await expect(body).rejects.toBeInstanceOf(DeadlineError);
    expect(req.isPaused()).toBe(true);
    await expect(readBody(request(), { bytesMax: 5, deadline })).rejects.toBeInstanceOf(DeadlineError);
  });

  it('accepts a body that has already arrived, up to the limit', async () => {
    const whole = (text: string) => {
      const req = Object.assign(request(), { complete: true });
      req.write(text.slice(0, 2));
      req.end(text.slice(2));
      return req;
    };
    expect((await readBody(whole('12345'), { bytesMax: 5 })).toString()).toBe('12345');
    expect(await readBody(Object.assign(request(), { complete: true }), { bytesMax: 5 })).toHaveLength(0);
    await expect(readBody(whole('123456'), { bytesMax: 5 })).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it('waits for the announced length, however much has arrived', async () => {
    const req = request({ 'content-length': '5' });
    req.write('123');
    const body = readBody(req, { bytesMax: 5 });
    req.end('45');
    expect((await body).toString()).toBe('12345');
  });

  it('ends a request that came in one piece, so that the next one can follow', async () => {
    const ended: Promise<unknown>[] = [];
    const server = createServer(async (req, res) => {
      ended.push(once(req, 'end'));
      await Promise.resolve();
      res.end(await readBody(req, { bytesMax: 5 }));
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
    const body = readBody(req, { bytesMax: 5 });
    req.write('1');
    req.destroy();
    await expect(body).rejects.toMatchObject({ code: 'body_aborted' });
    await expect(readBody(req, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_aborted' });
  });

  it('removes its listeners when it is done', async () => {
    const req = request();
    const before = req.eventNames().length;
    req.end('1');
    await readBody(req, { bytesMax: 5 });
    expect(req.listenerCount('data') + req.listenerCount('error')).toBe(0);
    expect(req.eventNames().length).toBeLessThanOrEqual(before);
  });
});
