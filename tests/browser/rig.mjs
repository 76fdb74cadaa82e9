// What the tests share: the program, the browser, and pages that remember what went wrong on them.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { options } from './options.mjs';

const { chromium } = createRequire(`${options.web}/package.json`)('playwright-core');

const patience = 60_000; // ms; a machine may be busy with other things

// Runs a command of the program to its end; returns what it printed.
export function heed(args, input = '') {
  return execFileSync(options.program, args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] });
}

export function startHeed(args, stdio) {
  return spawn(options.program, args, { stdio });
}

// `heed explore`, and the address that it prints.
export async function startExplorer(args = []) {
  const program = startHeed(['explore', '--threads', '1', ...args], ['ignore', 'ignore', 'pipe']);
  const lines = createInterface({ input: program.stderr });
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(program, 'exit').then(([code]) => assert.fail(`heed explore ended with ${code}`)),
  ]);
  const address = line.match(/^heed explore: (http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)$/)?.[1];
  assert.ok(address, `expected the address, found ${line}`);
  return {
    address,
    origin: new URL(address).origin,
    async stop() {
      program.kill('SIGINT');
      const [code] = await once(program, 'exit');
      assert.equal(code, 130, 'the program ends with 128 + the signal');
    },
  };
}

export function startBrowser() {
  return chromium.launch({
    executablePath: options.chromium,
    headless: true,
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

// The explorer in a browser of its own, with what `use` does to it, and nothing to complain of.
export class Visit {
  static async start({ args = [], fragment = '' } = {}) {
    const visit = new Visit();
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
  }

  // The same page in another state; it starts anew, as from a bookmark.
  async open(fragment) {
    await this.page.goto(`${this.explorer.origin}/${fragment}`);
    await this.page.reload();
  }

  async end() {
    await this.browser.close();
    await this.explorer.stop();
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
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
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
