import { expect, it } from 'vitest';
import { browserCommand, openBrowser } from './browser.ts';

it('starts no browser on a machine without a display', () => {
  expect(browserCommand('linux', {})).toBeUndefined();
  expect(browserCommand('linux', { DISPLAY: ':0' })).toEqual(['xdg-open']);
  expect(browserCommand('darwin', {})).toEqual(['open']);
});

it('prefers the browser in BROWSER', () => {
  expect(browserCommand('darwin', { BROWSER: '/usr/bin/firefox' })).toEqual(['/usr/bin/firefox']);
});

it('resolves to false if the browser cannot be started', async () => {
  expect(await openBrowser('https://issuer.example.com', { BROWSER: '/nowhere/browser' })).toBe(false);
  expect(await openBrowser('https://issuer.example.com', { BROWSER: process.execPath })).toBe(true);
});
