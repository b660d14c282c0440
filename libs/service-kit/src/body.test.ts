import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody } from './body.ts';

/** A request whose body the test writes. */
function request(headers: Record<string, string> = {}): IncomingMessage & PassThrough {
  return Object.assign(new PassThrough(), { headers, complete: false }) as unknown as IncomingMessage &
    PassThrough;
}

describe('readBody', () => {
  it('gives exactly the bytes sent', async () => {
    const req = request();
    const body = readBody(req, { bytesMax: 6 });
    req.write(Buffer.from([0, 255]));
    req.write(Buffer.from([10, 13]));
    req.end(Buffer.from([239, 187]));
    expect([...(await body)]).toEqual([0, 255, 10, 13, 239, 187]);
  });

  it('gives an empty body', async () => {
    const req = request();
    req.end();
    expect(await readBody(req, { bytesMax: 0 })).toHaveLength(0);
  });

  it('takes a body of exactly the limit and not one byte more', async () => {
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

  it('takes the content encoding identity', async () => {
    const req = request({ 'content-encoding': 'Identity' });
    req.end('a');
    expect((await readBody(req, { bytesMax: 5 })).toString()).toBe('a');
  });

  it('stops when it is told to, for the reason given', async () => {
    const controller = new AbortController();
    const req = request();
    const body = readBody(req, { bytesMax: 5, signal: controller.signal });
    req.write('1');
    controller.abort(new RangeError('enough'));
    await expect(body).rejects.toBeInstanceOf(RangeError);
    expect(req.isPaused()).toBe(true);
    await expect(readBody(request(), { bytesMax: 5, signal: controller.signal })).rejects.toBeInstanceOf(
      RangeError,
    );
  });

  it('says when the client went away', async () => {
    const req = request();
    const body = readBody(req, { bytesMax: 5 });
    req.write('1');
    req.destroy();
    await expect(body).rejects.toMatchObject({ code: 'body_aborted' });
    await expect(readBody(req, { bytesMax: 5 })).rejects.toMatchObject({ code: 'body_aborted' });
  });

  it('listens to nothing any more when it is done', async () => {
    const req = request();
    const before = req.eventNames().length;
    req.end('1');
    await readBody(req, { bytesMax: 5 });
    expect(req.listenerCount('data') + req.listenerCount('error')).toBe(0);
    expect(req.eventNames().length).toBeLessThanOrEqual(before);
  });
});
