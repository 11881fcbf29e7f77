// The page of a plan in a real browser, as users see it: with mouse, wheel and keys, light and dark, wide and narrow,
// empty and with ten thousand deletions. It never sends a network request.

import { columnsOf, type Placed, placeLane } from 'lapse/console/browser/layout';
import { itemsOf, lanesOf } from 'lapse/console/browser/model';
import { wholeOf } from 'lapse/console/browser/view';
import { pageData } from 'lapse/console/data';
import { at, end, HOSTILE, held, hostilePlan, manyEnds, plan } from 'lapse/console/plan.testkit';
import type { Plan } from 'lapse/forecast/plan';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isCI } from '../ci.ts';
import { findChromium } from './chromium.ts';
import { type Opened, type Pages, startPages } from './pages.ts';

const found = await findChromium();

/** The page's content security policy forbids the driver's own wait, which evaluates text in the page. */
const until = (page: Page, expression: string): Promise<void> =>
  expect.poll(() => page.evaluate(expression), { timeout: 20_000 }).toBe(true);

const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'web', name, uid: name });
const WEEK = plan(
  [
    end('late', -2),
    end('build-1', 30),
    end('build-2', 30.2),
    end('release', 90, {
      dependents: [{ object: pod('release-x7k2p'), depth: 1 }],
      moreDependents: 4,
      because: 'It finished at noon and has a TTL of 3d.',
    }),
    end('cache', 120, { object: pod('cache'), rule: 'TTLPolicy web/pods' }),
  ],
  { held: [held('stuck', { until: at(50) })], more: 42, cluster: 'prod-eu' },
);

describe.skipIf('missing' in found)('the page in a browser', () => {
  let pages: Pages;
  const opened: Opened[] = [];
  const open = async (it: Plan, options?: BrowserContextOptions): Promise<Page> => {
    const next = await pages.open(it, options);
    opened.push(next);
    return next.page;
  };

  beforeAll(async () => {
    if ('chromium' in found) pages = await startPages(found.chromium);
  });
  afterAll(() => pages?.close());
  afterEach(async () => {
    for (const { page, requests, complaints } of opened.splice(0)) {
      expect(requests).toEqual([]);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  const rows = (page: Page) => page.locator('.row .row-name').allTextContents();
  const card = (page: Page) => page.locator('#card');
  /** The card follows in the next frame. */
  const cardSays = (page: Page, words: string) =>
    card(page).getByText(words).first().waitFor({ state: 'visible' });

  /** The screen positions of the marks, when the whole plan is shown by kind. */
  async function marksOn(page: Page, it: Plan): Promise<Placed[]> {
    const data = pageData(it);
    const lanes = lanesOf(itemsOf(data), 'kind', data);
    const box = (await page.locator('#picture').boundingBox())!;
    const size = await page.evaluate<number[]>(
      '[document.getElementById("picture").clientWidth, document.getElementById("picture").clientHeight]',
    );
    const columns = columnsOf(size[0]!, size[1]!, lanes);
    const window = wholeOf(data.made, data.until);
    return lanes
      .flatMap((lane, index) => placeLane(lane, index, columns, window))
      .map((mark) => ({ ...mark, x: mark.x + box.x, y: mark.y + box.y }));
  }
  const markOf = (marks: readonly Placed[], name: string) =>
    marks.find(({ items }) => items.some((item) => item.name === name))!;

  test('shows deletions, overdue objects and held objects', async () => {
    const page = await open(WEEK);
    expect(await page.title()).toBe('What will end in prod-eu');
    expect(await page.locator('.chips').textContent()).toMatch(
      /6 in all\s+4 coming\s+1 overdue\s+1 held\s+0 changing\s+42 later/,
    );
    expect(await rows(page)).toEqual(['late', 'build-1', 'build-2', 'release', 'cache', 'stuck']);
    const colours = await page.evaluate<number>(`(() => {
      const canvas = document.getElementById('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    })()`);
    expect(colours).toBeGreaterThan(20);
  });

  test('shows the reason and the cascade of the deletion under the pointer', async () => {
    const page = await open(WEEK);
    const mark = markOf(await marksOn(page, WEEK), 'release');
    await page.mouse.move(mark.x, mark.y);
    await cardSays(page, 'It finished at noon and has a TTL of 3d.');
    await cardSays(page, 'Dependents: 5');
    await cardSays(page, 'release-x7k2p');
    await cardSays(page, 'and 4 more');
    await page.mouse.move(5, 5);
    await card(page).waitFor({ state: 'hidden' });
  });

  test('expands a group into its deletions', async () => {
    const page = await open(WEEK);
    const mark = markOf(await marksOn(page, WEEK), 'build-1');
    expect(mark.items).toHaveLength(2);
    await page.mouse.move(mark.x, mark.y);
    await cardSays(page, '2 deletions');
    await page.mouse.click(mark.x, mark.y);
    expect(await page.locator('#whole').isEnabled()).toBe(true);
    await page.mouse.move(5, 5);
    await page.locator('#picture').press('ArrowRight');
    expect(await page.locator('#spoken').textContent()).toMatch(
      /^Job · ci build-2, in 1 d 6 h\. build-2 finished/,
    );
  });

  test('zooms with the wheel and the buttons, moves by dragging', async () => {
    const page = await open(WEEK);
    const whole = page.locator('#whole');
    const picture = () => page.evaluate<string>('document.getElementById("canvas").toDataURL()');
    const before = await picture();
    const mark = markOf(await marksOn(page, WEEK), 'release');
    await page.mouse.move(mark.x, mark.y);
    await page.mouse.wheel(0, -400);
    await until(page, '!document.getElementById("whole").disabled');
    // The mark under the pointer stays there.
    await page.mouse.move(mark.x + 1, mark.y);
    await cardSays(page, 'release');
    await page.mouse.move(mark.x, mark.y + 90);
    await card(page).waitFor({ state: 'hidden' });
    const zoomed = await picture();
    expect(zoomed).not.toBe(before);
    await page.mouse.down();
    await page.mouse.move(mark.x - 120, mark.y + 90, { steps: 4 });
    await page.mouse.up();
    await expect.poll(picture, { timeout: 20_000 }).not.toBe(zoomed);
    await whole.click();
    expect(await whole.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show less time' }).click();
    expect(await whole.isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Show more time' }).click();
    expect(await whole.isDisabled()).toBe(true);
  });

  test('can be used without a mouse', async () => {
    const page = await open(WEEK);
    const spoken = page.locator('#spoken');
    await page.keyboard.press('Tab');
    for (let steps = 0; steps < 30 && !(await page.locator('#picture:focus').count()); steps += 1)
      await page.keyboard.press('Tab');
    expect(await spoken.textContent()).toContain('late, overdue by 2 h');
    await cardSays(page, 'late finished an hour ago');
    await page.keyboard.press('ArrowRight');
    expect(await spoken.textContent()).toMatch(/^Job: 2 deletions/);
    await page.keyboard.press('ArrowRight');
    expect(await spoken.textContent()).toContain('Dependents: 5');
    await page.keyboard.press('ArrowDown');
    expect(await spoken.textContent()).toContain('cache');
    await page.keyboard.press('+');
    expect(await page.locator('#whole').isEnabled()).toBe(true);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('0');
    expect(await page.locator('#whole').isDisabled()).toBe(true);
    await page.keyboard.press('/');
    expect(await page.locator('#search:focus').count()).toBe(1);
  });

  test('the list is navigated with keys and shows the details', async () => {
    const page = await open(WEEK);
    const list = page.locator('#list');
    await list.press('ArrowDown');
    await list.press('End');
    expect(await page.locator('#details').textContent()).toContain('A finalizer holds stuck.');
    await list.press('ArrowUp');
    expect(await page.locator('#details').textContent()).toContain('TTLPolicy web/pods');
    await until(
      page,
      `(() => {
      const active = document.getElementById('list').getAttribute('aria-activedescendant');
      const row = document.getElementById(active);
      return row?.getAttribute('aria-selected') === 'true' && row.getAttribute('aria-posinset') === '5';
    })()`,
    );
  });

  test('filters by kind, namespace, rule, state and words', async () => {
    const page = await open(WEEK);
    const left = async (names: string[]) => {
      await until(
        page,
        `JSON.stringify([...document.querySelectorAll('.row-name')].map((it) => it.textContent)) === '${JSON.stringify(names)}'`,
      );
    };
    const clear = async () => {
      await page.getByRole('button', { name: 'Clear' }).click();
      await left(['late', 'build-1', 'build-2', 'release', 'cache', 'stuck']);
    };
    await page.getByLabel('Only this kind').selectOption({ label: 'Pod (2)' });
    await left(['cache', 'stuck']);
    await clear();
    await page.getByLabel('Only this namespace').selectOption({ label: 'web (1)' });
    await left(['cache']);
    await clear();
    await page.getByLabel('Only this rule').selectOption({ label: 'TTLPolicy web/pods (1)' });
    await left(['cache']);
    await clear();
    await page.getByRole('button', { name: '1 overdue' }).click();
    await left(['late']);
    expect(await page.locator('#shown').textContent()).toBe('1 of 6');
    await clear();
    await page.locator('#search').fill('noon TTL');
    await left(['release']);
    await page.locator('#search').fill('nothing like this');
    await left([]);
    expect(await page.locator('#empty').textContent()).toContain('Nothing passes these filters.');
    await clear();
  });

  test('lanes are made by kind, namespace or rule', async () => {
    const page = await open(plan([end('a', 20), end('b', 20.1)]));
    for (const [by, label] of [
      ['namespace', 'ci'],
      ['rule', 'spec.ttlSecondsAfterFinished'],
      ['kind', 'Job'],
    ]) {
      await page.locator(`#by-${by}`).check();
      await page.locator('#picture').press('Escape');
      await page.locator('#picture').press('ArrowRight');
      expect(await page.locator('#spoken').textContent()).toMatch(new RegExp(`^${label}: 2 deletions`));
    }
  });

  test('ten thousand deletions: few elements, the last is reachable, zooming works', async () => {
    const page = await open(manyEnds(10_000));
    expect(await page.locator('#shown').textContent()).toBe('10,000');
    expect(await page.locator('.row').count()).toBeLessThan(60);
    await page.locator('#list').press('End');
    await page.waitForSelector('.row[aria-posinset="10000"]');
    await page.mouse.move(700, 500);
    for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, turn < 20 ? -240 : 240);
    await page.locator('#search').fill('run-77');
    await until(page, 'document.getElementById("shown").textContent === "111 of 10,000"');
    await page.waitForSelector('.row[aria-setsize="111"]');
  });

  test('an empty plan and a plan with one deletion', async () => {
    const none = await open(plan([], { more: 3 }));
    expect(await none.locator('#empty').textContent()).toBe('Nothing is deleted in the next 7 d; 3 later.');
    await none.locator('#picture').press('ArrowRight');
    await none.locator('#list').press('ArrowDown');
    const one = await open(plan([end('only', 5)]));
    expect(await rows(one)).toEqual(['only']);
    await one.locator('#picture').press('ArrowRight');
    expect(await one.locator('#spoken').textContent()).toContain('only, in 5 h');
  });

  test('hostile names are shown as text everywhere', async () => {
    const page = await open(hostilePlan());
    const names = await rows(page);
    expect(names[0]).toBe(HOSTILE[0]);
    await page.locator('#list').press('ArrowDown');
    for (let index = 0; index < HOSTILE.length * 2; index += 1)
      await page.locator('#list').press('ArrowDown');
    for (let index = 0; index < HOSTILE.length; index += 1) await page.locator('#picture').press('ArrowDown');
    for (const by of ['namespace', 'rule']) await page.locator(`#by-${by}`).check();
    expect(await page.evaluate('window.owned')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
  });

  test('light and dark, by the system setting and by the button', async () => {
    const page = await open(WEEK, { colorScheme: 'dark' });
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const dark = await background();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    const light = await background();
    expect([dark, light]).toEqual(['rgb(20, 23, 28)', 'rgb(245, 245, 242)']);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await background()).toBe(light);
  });

  test('a small screen scrolls down, never sideways', async () => {
    const page = await open(WEEK, { viewport: { width: 390, height: 800 } });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.locator('.row').first().isVisible()).toBe(true);
  });

  test('without scripts the static picture is shown', async () => {
    const page = await open(WEEK, { javaScriptEnabled: false });
    expect(await page.locator('.still svg').isVisible()).toBe(true);
    expect(await page.locator('.bar').isVisible()).toBe(false);
  });

  test('every control has an accessible name', async () => {
    const page = await open(WEEK);
    const unnamed = await page.evaluate(`[...document.querySelectorAll('button, select, input, [tabindex]')]
      .filter((it) => !(it.getAttribute('aria-label') || it.textContent.trim() || it.labels?.[0]?.textContent.trim()))
      .map((it) => it.outerHTML)`);
    expect(unnamed).toEqual([]);
  });

  test('its content security policy blocks foreign scripts, and every request', async () => {
    // Not checked for warnings: the browser reports one, as it should.
    const { page, requests } = await pages.open(WEEK);
    const answer = await page.evaluate(`(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.owned = 1';
      document.body.append(script);
      const image = new Image();
      image.src = 'http://127.0.0.1:9/x.png';
      return [window.owned, await fetch('http://127.0.0.1:9/').then(() => 'answered', () => 'refused')];
    })()`);
    expect(answer).toEqual([undefined, 'refused']);
    expect(requests.filter((address) => !address.startsWith('http://127.0.0.1:9'))).toEqual([]);
    await page.context().close();
  });
});

if ('missing' in found) {
  const { missing } = found;
  test.skipIf(!isCI)(`needs a browser: ${missing}`, () => expect.fail(missing));
}
