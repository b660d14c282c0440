import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
import { CHROMIUM, inaccessible, openBrowser, watchFaults } from './browser.ts';

/** Where screenshots are kept, to look at them. */
const SHOTS = process.env['SCREENSHOTS'];
const VIEWS: readonly { readonly scheme: 'light' | 'dark'; readonly width: number }[] = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 390 },
];

describe.runIf(CHROMIUM !== undefined)('in a browser', () => {
  const home = mkdtempSync(join(tmpdir(), 'ori-pages-'));
  let standalone: Standalone;
  let browser: Browser;
  let start: string;
  /** How far the clock of the services is ahead, in milliseconds. */
  let ahead = 0;

  beforeAll(async () => {
    const now = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
    standalone = await startStandalone(loadStandaloneConfig({ ORI_PORT: '0' }), home);
    browser = await openBrowser(CHROMIUM ?? '');
    start = new URL('/', standalone.state.baseUrl).href;
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(standalone.acceptsFromMs), { timeout: 5000 });
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await browser?.close();
    await standalone?.stop();
    rmSync(home, { recursive: true });
  });

  async function open(url: string, { scheme = 'light', width = 1280 }: Partial<(typeof VIEWS)[number]> = {}) {
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width, height: 900 } });
    const faults = watchFaults(page);
    await page.goto(url);
    return { page, faults, [Symbol.asyncDispose]: () => page.close() };
  }

  async function expectSound(page: Page, faults: readonly string[], name: string): Promise<void> {
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
    expect(await inaccessible(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
  }

  async function expectInView(page: Page, answer: Locator): Promise<void> {
    const { y = 0, height = 0 } = (await answer.boundingBox()) ?? {};
    const seen = page.viewportSize()?.height ?? 0;
    expect([y >= 0, height > 0, y + height <= seen + 1]).toEqual([true, true, true]);
  }

  /** Goes to a button with the Tab key, like somebody without a mouse, and presses it. */
  async function press(page: Page, label: string): Promise<void> {
    for (let stops = 0; stops < 30; stops++) {
      await page.keyboard.press('Tab');
      const focused = page.locator(':focus');
      if ((await focused.count()) > 0 && (await focused.innerText()) === label)
        return page.keyboard.press('Enter');
    }
    throw new Error(`the Tab key does not lead to ${label}`);
  }

  it('makes a call and abuses it, with the keyboard alone', async () => {
    await using opened = await open(start);
    const { page, faults } = opened;
    await page.clock.install();
    const steps = ['Session', 'Signer', 'Five headers', 'Daemon', 'Verdict'];
    expect(await page.locator('#way h3').allInnerTexts()).toEqual(steps);
    expect(await page.locator('#bytes').isHidden()).toBe(true);
    const answers = page.locator('#answers li');
    const abuse = async (label: string) => {
      const before = await answers.count();
      await press(page, label);
      await answers.nth(before).waitFor();
      await expectInView(page, answers.first());
      const [code, rule] = await Promise.all(
        ['strong', 'b'].map((part) => answers.first().locator(part).innerText()),
      );
      return `${code}, ${rule}`;
    };

    await press(page, 'Call greeter');
    const verdict = page.locator('#way li', { hasText: 'Verdict' });
    await verdict.locator('strong').waitFor();
    expect(await verdict.innerText()).toMatch(/200 OK[\s\S]*"user":"ada-/);
    await expectInView(page, verdict);
    expect(await page.locator('#way h3').allInnerTexts()).toEqual(steps);
    expect(await page.locator('#signed').innerText()).toContain('13:ori-invoke-v2,');

    expect(await abuse('Repeat it')).toBe('401 nonce_replayed, SPEC N7');
    expect(await abuse('Change one byte of the body')).toBe('401 signature_invalid, SPEC V15');
    expect(await abuse('Change the path')).toBe('401 signature_invalid, SPEC V15');
    expect(await abuse('Use it in grace’s name')).toBe('401 signature_invalid, SPEC V15');
    expect(await abuse('Take it to another intern')).toBe('401 signature_invalid, SPEC V15');
    expect(await page.locator('mark').count()).toBe(4);

    await press(page, 'Change an answer of analytical');
    await answers.nth(5).waitFor();
    expect(await answers.first().innerText()).toMatch(/"user":"ada-[\s\S]*exit 9 answer_lost/);
    expect(await page.locator('mark').count()).toBe(5);

    await press(page, 'Wait until the proof is 70 s old');
    await page.locator('button', { hasText: 'Waiting' }).waitFor();
    ahead = 70_000;
    await page.clock.fastForward(70_000);
    await answers.nth(6).waitFor();
    ahead = 0;
    expect(await answers.first().innerText()).toMatch(/401 proof_expired[\s\S]*SPEC V12/);
    expect(faults.filter((fault) => !fault.includes('status of 401'))).toEqual([]);
  });

  it('shows that the signer lets nobody else through', async () => {
    await using opened = await open(start);
    const { page } = opened;
    await page.selectOption('#user', 'grace');
    await page.click('text=Call greeter');
    await page.locator('#way .bad').waitFor();
    expect(await page.locator('#way li', { hasText: 'Signer' }).innerText()).toContain('404 not_found');
    for (const part of ['#bytes', '#abuse']) expect(await page.locator(part).isHidden()).toBe(true);
  });

  it.each(VIEWS)('is readable by everyone, $scheme at $width px', async (view) => {
    await using opened = await open(start, view);
    const { page, faults } = opened;
    await page.click('text=Call greeter');
    await page.click('text=Change the path');
    await page.locator('#answers mark').waitFor();
    await expectInView(page, page.locator('#answers li').first());
    // Not by their colour alone, which some people do not see.
    const looks = (box: string) =>
      page.evaluate(`[getComputedStyle(document.querySelector('${box}'), '::before').borderRadius,
        getComputedStyle(document.querySelector('${box}')).borderLeftStyle]`);
    expect(await looks('#way li:last-child')).toEqual(['50%', 'solid']);
    expect(await looks('#answers li')).toEqual(['0px', 'dashed']);
    // A person and their note take two lines where the page is narrow: none of them is cut.
    const lines = `(() => {
      const { height, paddingTop, lineHeight } = getComputedStyle(document.querySelector('#user'));
      return Math.floor((parseFloat(height) - 2 * parseFloat(paddingTop)) / parseFloat(lineHeight));
    })()`;
    expect(await page.evaluate(lines)).toBe(view.width < 400 ? 2 : 1);
    await expectSound(page, faults, `start-${view.scheme}-${view.width}`);
  });

  it('tries an operation of the reference with the session of a person', async () => {
    await using opened = await open(`${standalone.state.baseUrl}/docs`);
    const { page, faults } = opened;
    const links = page.locator('a', { hasText: /^Try it$/ });
    const tried = page.locator('#tried li').first();
    const answers: string[] = [];
    for (const href of await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))) {
      await page.goto(new URL(href, start).href);
      await page.click('#try button');
      await tried.waitFor();
      answers.push(await tried.innerText());
    }
    expect(answers.length).toBeGreaterThan(3);
    for (const answer of answers) expect(answer).toContain('200 OK');
    expect(answers.filter((answer) => /GET \/interns\n[\s\S]*"name": "greeter"/.test(answer))).toHaveLength(
      1,
    );
    expect(answers.filter((answer) => answer.includes('"x-ori-invoke-signature-v2"'))).toHaveLength(1);
    await page.fill('#request', 'GET /interns/none/icon');
    await page.click('#try button');
    await page.locator('#tried li', { hasText: 'none/icon' }).waitFor();
    expect(await page.locator('#tried li').first().innerText()).toMatch(/4\d\d /);
    expect(faults).toEqual([]);
  });

  it('searches the reference, and copies an example', async () => {
    await using opened = await open(`${standalone.state.baseUrl}/docs`);
    const { page, faults } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const listed = page.locator('nav li:visible');
    await page.fill('#search', 'guardrail assignments/keys REMOVE');
    expect(await listed.allInnerTexts()).toEqual(['Remove a guardrail from keys']);
    await page.press('#search', 'Enter');
    expect(new URL(page.url()).hash).toBe('#bulkUnassignKeys');
    await page.fill('#search', 'zebra');
    expect([await listed.count(), await page.locator('nav [role=status]').innerText()]).toEqual([
      0,
      expect.stringMatching(/^0 of \d\d$/),
    ]);
    await page.locator('.copy').first().click();
    await page.locator('.copy', { hasText: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toBe(await page.locator('.copy + pre').first().textContent());
    expect(faults).toEqual([]);
  });

  it('has a reference whose links all lead somewhere', async () => {
    await using opened = await open(`${standalone.state.baseUrl}/docs`);
    const { page } = opened;
    const links = await page.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href') ?? ''));
    expect(links.length).toBeGreaterThan(100);
    const ids = new Set(await page.locator('[id]').evaluateAll((all) => all.map(({ id }) => `#${id}`)));
    expect(links.filter((href) => href.startsWith('#') && !ids.has(href))).toEqual([]);
    const pages = new Set(
      links.filter((href) => !href.startsWith('#')).map((href) => new URL(href, start).href),
    );
    for (const url of pages) expect([url, (await fetch(url)).status]).toEqual([url, 200]);
  });

  it.each(VIEWS)('has a reference that everyone can read, $scheme at $width px', async (view) => {
    await using opened = await open(`${standalone.state.baseUrl}/docs`, view);
    const { page, faults } = opened;
    // They look the same, and judging all of them takes half a minute.
    const alike = page.locator('section:nth-of-type(n+4), #schemas ~ ul, #schemas ~ h3');
    await alike.evaluateAll((all) => all.map((each) => each.remove()));
    await page.locator('details').evaluateAll((all) => all.map((each) => each.setAttribute('open', '')));
    const words =
      "const text = document.createRange(); text.selectNodeContents(document.querySelector('th'));";
    expect(await page.evaluate(`(() => { ${words} return text.getClientRects().length })()`)).toBe(1);
    await expectSound(page, faults, `reference-${view.scheme}-${view.width}`);
  });

  it.each(VIEWS)('has a sign-in that everyone can read, $scheme at $width px', async (view) => {
    const { issuer, baseUrl } = standalone.state;
    const request = new URLSearchParams({
      client_id: 'ori-cli',
      response_type: 'code',
      redirect_uri: 'http://127.0.0.1/callback',
      scope: 'openid vault:read',
      resource: baseUrl,
      prompt: 'consent',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    await using opened = await open(`${issuer}/auth?${request}`, view);
    const { page, faults } = opened;
    await expectSound(page, faults, `sign-in-${view.scheme}-${view.width}`);
    await press(page, 'ada\nmember of the workspace of the demo intern');
    await page.locator('text=Deny').waitFor();
    await expectSound(page, faults, `consent-${view.scheme}-${view.width}`);
  });
});
