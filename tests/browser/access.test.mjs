// Who is let in: the browser that has the address, and no page from elsewhere.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eventually, newPage, startBrowser, startExplorer, Visit } from './rig.mjs';

// Another site, on another port of this machine.
async function startStranger(html) {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

// In the place of the system's opener: writes down what it was asked to open.
function fakeOpener(folder) {
  const seen = join(folder, 'seen');
  const script = `#!/bin/sh\nprintf %s "$1" > ${seen}.new && mv ${seen}.new ${seen}\n`;
  writeFileSync(join(folder, 'xdg-open'), script, { mode: 0o755 });
  return () => readFileSync(seen, 'utf8');
}

describe('Access with --open', () => {
  it('leads the browser to the page through a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'heed_open_'));
    const opened = fakeOpener(folder);
    let explorer, browser;
    try {
      explorer = await startExplorer(['--open'], { ...process.env, PATH: `${folder}:${process.env.PATH}` });
      const file = await eventually(opened);
      browser = await startBrowser();
      const page = await newPage(await browser.newContext());
      await page.goto(`file://${file}`);
      await page.getByText('bat').first().waitFor();
      assert.equal(page.url(), `${explorer.origin}/`);
      assert.deepEqual(page.complaints, []);
    } finally {
      await browser?.close();
      await explorer?.stop();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('Access', () => {
  let visit;
  before(async () => (visit = await Visit.start()));
  after(() => visit?.end());

  it('is given to the first who comes with the token', async () => {
    assert.equal(visit.page.url(), `${visit.explorer.origin}/`, 'the token is no longer shown');
    await visit.page.getByText('bat').first().waitFor();
    visit.expectNoComplaints();
  });

  it('is refused to the second', async () => {
    const context = await visit.browser.newContext();
    const page = await context.newPage();
    assert.equal((await page.goto(visit.explorer.address)).status(), 401);
    assert.equal((await page.goto(`${visit.explorer.origin}/`)).status(), 401);
    await context.close();
  });

  it('is refused to a name that is bent to this machine', async () => {
    const page = await visit.context.newPage();
    const port = new URL(visit.explorer.origin).port;
    assert.equal((await page.goto(`http://elsewhere.example:${port}/`)).status(), 403);
    await page.close();
  });

  // The cookie belongs to the host whatever the port, so another port is the nearest stranger.
  for (const host of ['127.0.0.1', 'localhost', 'elsewhere.example']) {
    it(`is refused to a page of ${host} on another port`, async () => {
      const stranger = await startStranger('<!doctype html><p>stranger</p>');
      const page = await newPage(visit.context);
      await page.goto(`http://${host}:${stranger.address().port}/`);
      const found = await page.evaluate(async (origin) => {
        const json = { 'Content-Type': 'application/json' };
        const attempts = {
          read: () => fetch(`${origin}/api/about`, { credentials: 'include' }),
          readOpaque: () => fetch(`${origin}/api/about`, { credentials: 'include', mode: 'no-cors' }),
          post: () =>
            fetch(`${origin}/api/words`, { method: 'POST', credentials: 'include', headers: json, body: '{}' }),
        };
        const found = {};
        for (const [name, attempt] of Object.entries(attempts)) {
          found[name] = await attempt().then((response) => response.status, () => 'refused');
        }
        const load = (element, url) =>
          new Promise((resolve) => {
            element.onload = () => resolve('loaded');
            element.onerror = () => resolve('refused');
            element.src = url;
            document.body.append(element);
          });
        found.script = await load(document.createElement('script'), `${origin}/assets/page.js`);
        found.image = await load(document.createElement('img'), `${origin}/icon.svg`);
        return found;
      }, visit.explorer.origin);
      const { readOpaque, ...others } = found;
      assert.ok(['refused', 0].includes(readOpaque), 'nothing of it can be read');
      assert.deepEqual(others, { read: 'refused', post: 'refused', script: 'refused', image: 'refused' });

      await page.setContent(`<iframe src="${visit.explorer.origin}/"></iframe>`);
      const frame = page.frames().find((one) => one !== page.mainFrame());
      await frame?.waitForLoadState();
      assert.equal(await frame?.locator('nav').count(), 0, 'the page is never framed');
      await page.close();
      stranger.close();
    });
  }
});
