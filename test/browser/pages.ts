// Pages of plans in a real browser: opened from a file as users do, with their network requests and warnings recorded.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { planPage } from 'lapse/console/page';
import type { Plan } from 'lapse/forecast/plan';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Chromium } from './chromium.ts';

export interface Opened {
  readonly page: Page;
  /** All requests of the page except for itself. */
  readonly requests: string[];
  /** Errors and warnings of the page. */
  readonly complaints: string[];
}

export interface Pages {
  open(plan: Plan, options?: BrowserContextOptions): Promise<Opened>;
  close(): Promise<void>;
}

export async function startPages({ path, libraries }: Chromium): Promise<Pages> {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-browser-'));
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: [...libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
  };
  const browser: Browser = await chromium.launch({ executablePath: path, env });
  let count = 0;
  return {
    async open(plan, options = {}) {
      const file = join(directory, `plan-${count++}.html`);
      writeFileSync(file, planPage(plan));
      const address = pathToFileURL(file).href;
      const context = await browser.newContext({ viewport: { width: 1440, height: 860 }, ...options });
      const page = await context.newPage();
      const requests: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => request.url() !== address && requests.push(request.url()));
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
      page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
      await page.goto(address);
      if (options.javaScriptEnabled !== false) await page.waitForSelector('html[data-ready=yes]');
      return { page, requests, complaints };
    },
    async close() {
      await browser.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
