import { expect, it } from 'vitest';
import { browserCommands, openBrowser } from './browser.ts';

const URL = 'https://issuer.example.com/?a=b c';

it('starts no browser on a machine without a display', () => {
  expect(browserCommands('linux', {}, URL)).toEqual([]);
  expect(browserCommands('linux', { DISPLAY: ':0' }, URL)).toEqual([['xdg-open', URL]]);
  expect(browserCommands('darwin', {}, URL)).toEqual([['open', URL]]);
});

it.each([
  ['/usr/bin/firefox', [['/usr/bin/firefox', URL]]],
  ['firefox --new-window', [['firefox', '--new-window', URL]]],
  ['firefox %s --private-window', [['firefox', URL, '--private-window']]],
  [
    'w3m:firefox --new-window:',
    [
      ['w3m', URL],
      ['firefox', '--new-window', URL],
    ],
  ],
])('reads BROWSER=%s', (BROWSER, commands) => {
  expect(browserCommands('darwin', { BROWSER }, URL)).toEqual(commands);
});

it('tries the browsers of the list in turn, and resolves to false if none can be started', async () => {
  expect(await openBrowser(URL, { BROWSER: '/nowhere/browser' })).toBe(false);
  expect(await openBrowser(URL, { BROWSER: `/nowhere/browser:${process.execPath} --version` })).toBe(true);
});
