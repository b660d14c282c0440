import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ManagementWorld, startManagementWorld } from './world.ts';

let world: ManagementWorld;
beforeAll(async () => {
  world = await startManagementWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const get = (path: string, headers: readonly string[] = []) => world.call({ path, bearer: null, headers });

/** What the page loads, as a browser would resolve it. */
async function loaded(): Promise<string[]> {
  const { text } = await get('/docs');
  const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
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

  it('comes under a policy without inline scripts, eval, or anything from elsewhere', async () => {
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

  it('allows the inline styles that its renderer brings, by their digests and no others', async () => {
    const policy = String((await get('/docs')).headers['content-security-policy']);
    const digests = [...policy.matchAll(/'sha256-([^']*)'/g)].map(([, digest]) => digest);
    const renderer = (await get('/docs/redoc.js')).text;
    const [, module = ''] = /s\.push\((\[e\.id,"\.ps\{.*?\}\])\),t\.A=s/s.exec(renderer) ?? [];
    const [, css, , map] = runInNewContext(module, { e: {} }) as [unknown, string, string, object];
    const mapped = Buffer.from(JSON.stringify(map)).toString('base64');
    const scrollbars = `${css}\n/*# sourceMappingURL=data:application/json;base64,${mapped} */`;
    const digest = (style: string) => createHash('sha256').update(style).digest('base64');
    expect(digests).toEqual([digest(''), digest(scrollbars)]);
  });

  it('has no inline script or style, and loads from below the base address alone', async () => {
    const { text } = await get('/docs');
    expect(text).not.toMatch(/<style|\son[a-z]+=|\sstyle=|<script(?![^>]*\ssrc=)/i);
    expect(await loaded()).toEqual([
      '/docs/reference.css',
      '/openapi.json',
      '/docs/redoc.js',
      '/docs/reference.js',
    ]);
    for (const path of await loaded()) expect((await get(path)).status).toBe(200);
  });

  it.each([
    ['/docs/redoc.js', 'text/javascript; charset=utf-8'],
    ['/docs/reference.js', 'text/javascript; charset=utf-8'],
    ['/docs/reference.css', 'text/css; charset=utf-8'],
  ])('serves %s with its type and an entity tag', async (path, mediaType) => {
    const { headers } = await get(path);
    expect(headers).toMatchObject({
      'content-type': mediaType,
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
    });
    const { status, text } = await get(path, ['If-None-Match', headers.etag ?? '']);
    expect({ status, text }).toEqual({ status: 304, text: '' });
  });

  it('draws the document beside it, with a script that loads no image from its makers', async () => {
    expect((await get('/docs/reference.js')).text).toContain("Redoc.init('openapi.json'");
    const { text } = await get('/docs/redoc.js');
    expect(text.length).toBeGreaterThan(1_000_000);
    // Not on the text itself: a failure would print the whole of it.
    expect(/src:"https?:[^"]*"/.exec(text)?.[0]).toBeUndefined();
    expect(text.includes('cdn.redoc.ly')).toBe(false);
  });

  it.each(['/docs/', '/docs/nothing.js', '/docs/../openapi.json', '/docs/%72edoc.js'])(
    '404: has no %s',
    async (path) => {
      const { status, json } = await get(path);
      expect(status).toBe(404);
      expect(json).toEqual({ error: { code: 404, message: 'Not found.' } });
    },
  );

  it('405: takes no other method', async () => {
    for (const path of ['/docs', '/docs/redoc.js']) {
      const { status, headers } = await world.call({ method: 'DELETE', path, bearer: null });
      expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
    }
  });
});
