import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { renderEnvelope, sendEnvelope } from './envelope.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the envelope', () => {
  it('has no metadata without a reason', () => {
    expect(renderEnvelope({ status: 401, message: 'Who?', retryable: true })).toBe(
      '{"error":{"code":401,"message":"Who?"}}',
    );
  });

  it('has only reason and retryable with a reason', () => {
    const presentation = {
      status: 429,
      message: 'Slow',
      reason: 'rate_limited',
      retryable: true,
      headers: { a: 'b' },
    };
    expect(JSON.parse(renderEnvelope(presentation))).toEqual({
      error: { code: 429, message: 'Slow', metadata: { reason: 'rate_limited', retryable: true } },
    });
    expect(
      JSON.parse(renderEnvelope({ status: 404, message: 'No', reason: 'not_found' })).error.metadata
        .retryable,
    ).toBe(false);
  });
});

describe('sendEnvelope', () => {
  it('is JSON, forbids caching, and has the headers of the presentation', async () => {
    const url = await serve((_req, res) => {
      res.setHeader('ETag', '"a"').setHeader('Cache-Control', 'public, max-age=60');
      sendEnvelope(res, { status: 401, message: 'Wer?', headers: { 'WWW-Authenticate': 'Bearer' } });
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.has('etag')).toBe(false);
    expect(await answer.json()).toEqual({ error: { code: 401, message: 'Wer?' } });
  });

  it('counts the length in bytes', async () => {
    const url = await serve((_req, res) => sendEnvelope(res, { status: 400, message: '„ß“' }));
    expect(await (await fetch(url)).json()).toEqual({ error: { code: 400, message: '„ß“' } });
  });

  it('does nothing after an answer has begun', async () => {
    const url = await serve((_req, res) => {
      res.write('be');
      sendEnvelope(res, { status: 500, message: 'late' });
      res.end('gun');
    });
    expect(await (await fetch(url)).text()).toBe('begun');
  });

  it('closes the connection only if the body of the request was not read', async () => {
    const url = await serve((_req, res) => sendEnvelope(res, { status: 413, message: 'No' }));
    const connection = async (init: RequestInit) => (await fetch(url, init)).headers.get('connection');
    expect(await connection({ method: 'POST', body: 'x' })).toBe('close');
    expect(await connection({ method: 'POST' })).toBe('keep-alive');
    expect(await connection({})).toBe('keep-alive');
  });
});
