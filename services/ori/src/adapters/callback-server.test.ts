import { request } from 'node:http';
import { expect, it } from 'vitest';
import { startCallbackServer } from './callback-server.ts';

const { signal } = new AbortController();

it('waits for the visit with its state, and answers others without accepting them', async () => {
  await using server = await startCallbackServer('our-state');
  const visited = server.visited(30, signal);
  const stray = [
    `${server.redirectUri}?code=evil&state=other`,
    `${server.redirectUri}?code=evil`,
    server.redirectUri.replace('/callback', '/favicon.ico'),
    server.redirectUri.replace('/callback', '/callback/?state=our-state'),
  ];
  for (const url of stray) expect((await fetch(url)).status, url).toBeGreaterThanOrEqual(400);
  expect((await fetch(`${server.redirectUri}?state=our-state`, { method: 'POST' })).status).toBe(404);
  const page = fetch(`${server.redirectUri}?code=good&state=our-state`);
  const visit = await visited;
  expect(visit.url.searchParams.get('code')).toBe('good');
  await visit.answer('signed in');
  expect((await page).status).toBe(200);
});

it('shows the page to a browser that visits twice before the first answer', async () => {
  await using server = await startCallbackServer('our-state');
  const visited = server.visited(30, signal);
  const leave = new AbortController();
  const url = `${server.redirectUri}?code=good&state=our-state`;
  const ahead = fetch(url, { signal: leave.signal });
  const visit = await visited;
  leave.abort();
  await expect(ahead).rejects.toThrow();
  const page = fetch(url);
  // Arrives after the other visit.
  await fetch(server.redirectUri);
  await visit.answer('signed in');
  expect((await page).status).toBe(200);
});

it('answers only under its own address, whatever name resolves to it', async () => {
  await using server = await startCallbackServer('our-state');
  const url = new URL(`${server.redirectUri}?code=good&state=our-state`);
  const status = await new Promise((resolve, reject) => {
    request(url, { headers: { host: `rebound.example:${url.port}` } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(404);
});

it('shows a page without scripts, requests to others, or parts of the request', async () => {
  await using server = await startCallbackServer('our-state');
  const visited = server.visited(30, signal);
  const fetched = fetch(`${server.redirectUri}?error=%3Cscript%3Ealert(1)%3C/script%3E&state=our-state`);
  await (await visited).answer('denied');
  const page = await fetched;
  const text = await page.text();
  expect(page.status).toBe(400);
  expect(text).toContain('denied');
  expect(text).not.toMatch(/<script|alert|\son\w+=|https?:/);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+';/,
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
});

it('stops waiting and listening when interrupted', async () => {
  const interrupt = new AbortController();
  const server = await startCallbackServer('our-state');
  const visited = server.visited(30, interrupt.signal);
  interrupt.abort();
  await expect(visited).rejects.toMatchObject({ code: 'interrupted' });
  await server[Symbol.asyncDispose]();
  await expect(fetch(server.redirectUri)).rejects.toThrow(TypeError);
});

it('does not wait for a browser that disconnected', async () => {
  await using server = await startCallbackServer('our-state');
  const visited = server.visited(30, signal);
  const leave = new AbortController();
  const page = fetch(`${server.redirectUri}?state=our-state`, { signal: leave.signal });
  const visit = await visited;
  leave.abort();
  await expect(page).rejects.toThrow();
  await fetch(server.redirectUri);
  await visit.answer('failed');
});
