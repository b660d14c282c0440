import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ManagementWorld, startManagementWorld } from './world.ts';

let world: ManagementWorld;
beforeAll(async () => {
  world = await startManagementWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const get = (path: string, headers: readonly string[] = []) => world.call({ path, bearer: null, headers });

/** The URLs that the page loads, as a browser resolves them. */
async function loaded(): Promise<string[]> {
  const { text } = await get('/docs');
  const links = [...text.matchAll(/(?:src|href|spec-url)="([^"]*)"/g)].map(([, link = '']) => link);
  return links
    .filter((link) => !link.startsWith('data:'))
    .map((link) => new URL(link, `${world.baseUrl}/docs`).href.slice(world.baseUrl.length));
}

describe('GET /docs', () => {
  it('is a page for anyone', async () => {
    const { status, headers, text } = await get('/docs');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('<noscript>');
  });

  it('has a policy without inline scripts, eval, or other origins', async () => {
    const policy = String((await get('/docs')).headers['content-security-policy']);
    const directives = new Map(
      policy.split('; ').map((directive) => {
        const [name = '', ...sources] = directive.split(' ');
        return [name, sources];
      }),
    );
    expect(directives.get('default-src')).toEqual(["'none'"]);
    expect(directives.get('script-src')).toEqual(["'self'"]);
    expect(directives.get('connect-src')).toEqual(["'self'"]);
    for (const name of ['base-uri', 'form-action', 'frame-ancestors']) {
      expect(directives.get(name)).toEqual(["'none'"]);
    }
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('has no inline script or style, and loads only from below the base address', async () => {
    const { text } = await get('/docs');
    expect(text).not.toMatch(/<style|\son[a-z]+=|\sstyle=|<script(?![^>]*\ssrc=)/i);
    expect(await loaded()).toEqual(['/openapi.json', '/openapi.json', '/docs/redoc.js']);
    for (const path of await loaded()) expect((await get(path)).status).toBe(200);
  });

  it('serves the published renderer, with its type and an entity tag', async () => {
    const { headers, text } = await get('/docs/redoc.js');
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
    });
    const published = createRequire(
      new URL('../../../services/management/package.json', import.meta.url),
    ).resolve('redoc/bundles/redoc.standalone.js');
    // Not `toEqual`, whose failure would print the whole file.
    expect(text === readFileSync(published, 'utf8')).toBe(true);
    const again = await get('/docs/redoc.js', ['If-None-Match', headers.etag ?? '']);
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  it('sends no request to other origins', async () => {
    expect((await get('/docs')).text).toContain('disable-telemetry="true"');
  });

  it.each(['/docs/', '/docs/nothing.js', '/docs/../openapi.json', '/docs/%72edoc.js'])(
    '404: has no %s',
    async (path) => {
      const { status, json } = await get(path);
      expect(status).toBe(404);
      expect(json).toEqual({ error: { code: 404, message: 'Not found.' } });
    },
  );

  it('405: refuses other methods', async () => {
    for (const path of ['/docs', '/docs/redoc.js']) {
      const { status, headers } = await world.call({ method: 'DELETE', path, bearer: null });
      expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
    }
  });
});
