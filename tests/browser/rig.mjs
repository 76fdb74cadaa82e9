// Shared by all tests: the program, the browser, and pages that remember what went wrong on them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { options } from './options.mjs';
import { abort, WatchedProcess } from './processes.mjs';

const { chromium } = createRequire(`${options.web}/package.json`)('playwright-core');

const patience = 60_000; // ms; a machine may be busy with other things

// Runs a command of the program to its end; returns what it printed.
export function heed(args, input = '') {
  return execFileSync(options.program, args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] });
}

// Starts a command of the program that runs until it is told to end.
export function startHeed(args, environment) {
  return WatchedProcess.start(options.program, args, environment);
}

// `heed explore`, and the address that it prints.
export async function startExplorer(args = [], environment = process.env) {
  const program = startHeed(['explore', '--threads', '1', ...args], environment);
  const [line] = await once(program.lines, 'line');
  const address = line.match(/^heed explore: (http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)$/)?.[1];
  assert.ok(address, `expected the address, found ${line}`);
  return {
    address,
    origin: new URL(address).origin,
    async stop() {
      assert.equal(await program.end('SIGINT'), 130, 'the program ends with 128 + the signal');
    },
  };
}

// A browser whose death, or that of a page, ends the test.
export async function startBrowser() {
  const server = await chromium.launchServer({
    executablePath: options.chromium,
    headless: true,
    handleSIGHUP: false, // processes.mjs does
    handleSIGINT: false,
    handleSIGTERM: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP elsewhere.example 127.0.0.1',
    ],
  });
  const program = new WatchedProcess('chromium', server.process());
  const browser = await chromium.connect(server.wsEndpoint());
  return {
    process: server.process(),
    async newContext(wishes) {
      const context = await browser.newContext(wishes);
      context.on('page', (page) => page.on('crash', () => abort(`a page crashed: ${page.url()}`)));
      return context;
    },
    async close() {
      program.release();
      await server.close();
    },
  };
}

// A page that keeps its complaints: errors, warnings, broken policies and failed requests.
export async function newPage(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.complaints = [];
  page.answers = new Map(); // of the server, the last one for each path
  const complain = (text) => page.complaints.push(text);
  page.on('console', (message) => {
    // The picture of the tab may be asked for when the test has already left the page.
    const isOfTab = message.location().url.endsWith('/icon.svg');
    if (['error', 'warning'].includes(message.type()) && !isOfTab) complain(message.text());
  });
  page.on('pageerror', (error) => complain(String(error)));
  page.on('response', async (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400) complain(`${response.status()} ${response.url()}`);
    const isJson = response.headers()['content-type'] === 'application/json';
    if (pathname.startsWith('/api/') && isJson) {
      const asked = response.request().postData();
      const answer = await response.json().catch(() => null);
      page.answers.set(pathname.replace(/\d+/, 'ID'), { asked: asked && JSON.parse(asked), answer });
    }
  });
  return page;
}

// The explorer in a browser of its own.
export class Visit {
  static async start({ args = [], fragment = '' } = {}) {
    const visit = new Visit();
    try {
      visit.explorer = await startExplorer(args);
      visit.browser = await startBrowser();
      visit.context = await visit.browser.newContext({
        viewport: { width: 1360, height: 900 },
        locale: 'en-GB',
        colorScheme: 'light',
        reducedMotion: 'reduce',
      });
      visit.page = await newPage(visit.context);
      await visit.page.goto(visit.explorer.address + fragment);
      return visit;
    } catch (error) {
      await visit.end();
      throw error;
    }
  }

  // The same page in another state; it starts anew, as from a bookmark.
  async open(fragment) {
    await this.page.goto(`${this.explorer.origin}/${fragment}`);
    await this.page.reload();
  }

  async end() {
    try {
      await this.browser?.close();
    } finally {
      await this.explorer?.stop();
    }
  }

  expectNoComplaints() {
    assert.deepEqual(this.page.complaints, []);
  }
}

// The server's answer to the page's own kind of request.
export function ask(page, path, body) {
  return page.evaluate(
    async ([path, body]) => {
      const headers = { 'Content-Type': 'application/json' };
      const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : {};
      return (await fetch(path, init)).json();
    },
    [path, body],
  );
}

// Little-endian floats from the server.
export async function askFloats(page, path) {
  return Float32Array.from(
    await page.evaluate(async (path) => {
      const response = await fetch(path);
      return [...new Float32Array(await response.arrayBuffer())];
    }, path),
  );
}

// What the page wrote is the engine's float; null stands for minus infinity.
export function expectFloat(written, value, message) {
  const text = written.trim();
  if (value === null) return assert.match(text, /^[-−](∞|inf)$/, message);
  assert.equal(Math.fround(Number(text)), Math.fround(value), message ?? `${text} is ${value}`);
}

// Waits until the check no longer throws.
export async function eventually(check) {
  const end = Date.now() + patience;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

// The request and the answer of a path, once there is one that suits: the page may show an answer
// before the test has read it.
export function answered(page, path, suits = () => true) {
  return eventually(() => {
    const found = page.answers.get(path);
    assert.ok(found?.answer && suits(found), `no answer of ${path} as it is expected`);
    return found;
  });
}

// The file that a click on the page gives.
export async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  const folder = mkdtempSync(join(tmpdir(), 'heed_download_'));
  try {
    await download.saveAs(join(folder, 'file'));
    return { name: download.suggestedFilename(), bytes: readFileSync(join(folder, 'file')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// A card's picture or numbers in one of the formats that its menu offers.
export function saveAs(page, card, format) {
  return saved(page, async () => {
    await page.getByRole('button', { name: `Save: ${card}`, exact: true }).click();
    await page.getByRole('button', { name: format, exact: true }).click();
  });
}

export async function picture(page, name) {
  if (!options.screenshots) return;
  mkdirSync(options.screenshots, { recursive: true });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(options.screenshots, `${name}.png`) });
}
