import { describe, expect, it } from 'vitest';
import { useManagementWorld } from './world.ts';

const world = await useManagementWorld();

const get = (path: string, headers: readonly string[] = []) => world.call({ path, bearer: null, headers });

describe('GET /docs', () => {
  it('is a page for anyone', async () => {
    const { status, headers, text } = await get('/docs');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'public, max-age=60',
    });
    const again = await get('/docs', ['If-None-Match', headers.etag ?? '']);
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(text).toContain('<html lang="en">');
  });

  it('loads and runs nothing but its own script, and its policy forbids it', async () => {
    const { headers, text } = await get('/docs');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'sha256-[\w+/]+=';/,
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const [script, ...others] = text.match(/<script[^>]*>/gi) ?? [];
    expect([script, others]).toEqual(['<script type="module" src="docs.js">', []]);
    expect(await get('/docs.js')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff' },
    });
    expect(text.replace(script ?? '', '')).not.toMatch(/<img|<link|\ssrc=|\son[a-z]+=|\sstyle=/i);
  });

  it('names every operation and schema of the document, and links to nothing that it lacks', async () => {
    const { text } = await get('/docs');
    expect(text.replaceAll(/<(pre|code)\b.*?<\/\1>/gs, '')).not.toContain('`');
    const { paths, components } = JSON.parse((await get('/openapi.json')).text);
    const operations = Object.values<object>(paths).flatMap((methods) => Object.values(methods));
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const { operationId } of operations) expect(ids).toContain(operationId);
    for (const name of Object.keys(components.schemas)) expect(ids).toContain(name);
    const links = [...text.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(operations.length);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
    expect(text).not.toMatch(/undefined|\[object/);
  });

  it.each(['/docs/', '/docs/nothing.js', '/docs/../openapi.json', '/%64ocs'])(
    '404: has no %s',
    async (path) => {
      const { status, json } = await get(path);
      expect(status).toBe(404);
      expect(json).toEqual({ error: { code: 404, message: 'Not found.' } });
    },
  );

  it('405: refuses other methods', async () => {
    const { status, headers } = await world.call({ method: 'DELETE', path: '/docs', bearer: null });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
  });
});
