import { existsSync } from 'node:fs';
import { source as AXE } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The Chromium of this machine; undefined where there is none, which is told. */
export const CHROMIUM = (() => {
  const found = PLACES.find((place) => existsSync(place));
  if (found === undefined)
    process.stderr.write('pages: there is no chromium here, so they are not played in a browser\n');
  return found;
})();

/** Debian's Chromium cannot start its sandbox as root, or in a container. It only opens pages of this computer. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** What a page does that it must not: failures of its script, breaches of its policy, requests that fail or leave this computer. */
export function watchFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol === 'http:' ? url.hostname !== '127.0.0.1' : !/^(?:data|blob):$/.test(url.protocol))
      faults.push(`foreign: ${url.href}`);
  });
  return faults;
}

/** The rules of axe-core that the page breaks, with the elements that do. */
export async function inaccessible(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: defined by the line above, in the browser
    const { violations } = await (globalThis as any).axe.run();
    return violations.flatMap(({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
    );
  });
}
