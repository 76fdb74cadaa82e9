// How the page behaves in every view: the keyboard, the address, colours, narrow screens, other
// scripts, and files to take away.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answered, eventually, expectFloat, picture, saveAs, saved, Visit } from './rig.mjs';

describe('The page', () => {
  let visit, page;
  before(async () => {
    visit = await Visit.start({ fragment: '#words.digits=all' });
    page = visit.page;
  });
  after(() => visit?.end());

  const fragment = () => decodeURIComponent(new URL(page.url()).hash);
  const numbersShown = () =>
    page.locator('[data-mark="words.weights"] td[data-cell]').first().waitFor();

  async function start(state = '') {
    await visit.open(state);
    await numbersShown();
  }

  // Timed once more on a page that nobody has open yet. The bar of one second is for a machine that
  // has nothing else to do; what is asserted is the work of the page itself, which others cannot slow.
  it('is painted at once', async (test) => {
    const fresh = await visit.context.newPage();
    const client = await visit.context.newCDPSession(fresh);
    await client.send('Performance.enable', { timeDomain: 'threadTicks' });
    await fresh.goto(`${visit.explorer.origin}/`);
    await fresh.locator('[data-mark="words.weights"] td[data-cell]').first().waitFor();
    const paint = await fresh.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0].startTime,
    );
    const scripts = await fresh.evaluate(() =>
      performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).length,
    );
    const { metrics } = await client.send('Performance.getMetrics');
    const work = 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
    test.diagnostic(`first paint after ${paint.toFixed(0)} ms, ${scripts} scripts`);
    test.diagnostic(`${work.toFixed(0)} ms of the page's own thread until its numbers are there`);
    assert.ok(work < 1000, `the page itself worked for ${work} ms`);
    await fresh.close();
  });

  it('goes back and forward through what was done', async () => {
    await start();
    await page.locator('[data-mark="words.choose"] button').first().click();
    await page.locator('[data-mark="words.move"]').click();
    await eventually(() => assert.equal(fragment(), '#words.similarity=dot&words.moved=true'));
    await page.goBack();
    await eventually(() => assert.equal(fragment(), '#words.similarity=dot'));
    assert.equal(
      await page.locator('[data-mark="words.move"]').getAttribute('aria-pressed'),
      'false',
    );
    await page.goForward();
    await eventually(async () =>
      assert.equal(
        await page.locator('[data-mark="words.move"]').getAttribute('aria-pressed'),
        'true',
      ),
    );
  });

  it('makes one step of the history of one drag', async () => {
    await start();
    const length = await page.evaluate(() => history.length);
    const dot = await page.locator('[data-mark="words.plane"] circle.dot').first().boundingBox();
    await page.mouse.move(dot.x + 4, dot.y + 4);
    await page.mouse.down();
    for (let i = 1; i <= 20; ++i) await page.mouse.move(dot.x + 4 + 3 * i, dot.y + 4 + i);
    await page.mouse.up();
    await eventually(() => assert.match(fragment(), /words\.words=/));
    assert.equal(await page.evaluate(() => history.length), length + 1);
  });

  it('ignores an address that makes no sense', async () => {
    await start(
      '#words.words=[[1]]&words.mask=hello&words.chosen=77&words.heads=7&view=nowhere&%E0%A4%A',
    );
    assert.equal(await page.locator('[data-mark="words.weights"] tbody tr').count(), 3);
    visit.expectNoComplaints();
  });

  it('is used without a mouse', async () => {
    await start();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowRight');
    await eventually(() => assert.match(fragment(), /words\.chosen=1/));
    await page.getByRole('button', { name: /^bat at/ }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowUp');
    await eventually(() => assert.match(fragment(), /\["bat",3\.1,4\]/));
    await page.keyboard.press('4');
    await eventually(() => assert.match(fragment(), /view=lessons/));
  });

  it('names everything that can be pressed or filled in', async () => {
    await start(
      '#words.heads=[{"query":[1,0,0,1],"key":[1,0,0,1],"value":[1,0,0,1]},{"query":[0,1,-1,0],"key":[1,0,0,1],"value":[1,0,0,1]}]',
    );
    await page.locator('td[data-output]').first().waitFor();
    const nameless = await page
      .locator('button, input, select, [role="button"], [role="img"]')
      .evaluateAll((all) =>
        all
          .filter((element) => {
            const label =
              element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? '';
            return (label + element.textContent).trim() === '';
          })
          .map((element) => element.outerHTML),
      );
    assert.deepEqual(nameless, []);
  });

  it('is light or dark, as the system wishes or as it is told', async () => {
    await start();
    const ground = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    await eventually(async () => assert.notEqual(await ground(), light));
    await picture(page, 'words-dark');
    await page.getByRole('button', { name: /^Colours/ }).click();
    await eventually(async () => assert.equal(await ground(), light));
    assert.match(fragment(), /theme=light/);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('fits narrow and wide screens', async () => {
    const long = Array.from({ length: 24 }, (_, i) => [`word${i}`, Math.cos(i), Math.sin(i)]);
    const states = [
      '',
      `#words.words=${JSON.stringify(long)}`,
      '#words.step=3',
      '#view=lessons',
      '#view=lessons&lessons.lesson=4',
    ];
    for (const state of states) {
      await visit.open(state);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      for (const width of [400, 1280, 1920]) {
        await page.setViewportSize({ width, height: width === 400 ? 800 : 1080 });
        await page.waitForTimeout(300);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} pixels on a screen of ${width}: ${state.slice(0, 40)}`);
      }
    }
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  it('takes words of any script', async () => {
    await start();
    const field = page.getByLabel('Add a word');
    await field.fill('خفاش 洞窟の中 ');
    await eventually(() => assert.match(fragment(), /خفاش.*洞窟/));
    const names = JSON.parse(new URLSearchParams(fragment().slice(1)).get('words.words')).map(
      ([name]) => name,
    );
    assert.deepEqual(names.slice(3), ['خفاش', '洞窟', 'の', '中']);
    const chip = page.getByRole('button', { name: 'خفاش by letters' });
    assert.equal(await chip.evaluate((element) => getComputedStyle(element).direction), 'rtl');
    visit.expectNoComplaints();
  });

  it('reads a sentence word by word, and earlier words move', async () => {
    await start('#words.digits=all&words.moved=true&words.read=1');
    const context = () => page.locator('[data-context]').textContent();
    assert.equal(await context(), '3, 3', 'alone, a word stays where it is');
    const places = new Set([await context()]);
    for (const read of [2, 3]) {
      await page.getByLabel(/^Words read so far/).fill(String(read));
      await eventually(async () => assert.ok(!places.has(await context())));
      places.add(await context());
    }
    await eventually(async () => {
      const { answer } = page.answers.get('/api/words');
      (await context()).split(', ').forEach((text, d) => expectFloat(text, answer.outputs[0][d]));
    });
    assert.equal(
      await page.locator('[data-mark="words.plane"] path.trail').count(),
      3,
      'a trail for each word',
    );
  });

  it('bends the plane with a matrix, and the engine follows', async () => {
    await start('#words.digits=all');
    await page.getByLabel('rotate').first().fill('90');
    await eventually(() => assert.match(fragment(), /"query":\[0,1,-1,0\]/));
    await eventually(() =>
      assert.deepEqual(page.answers.get('/api/words').asked.heads[0].query, [
        [0, 1],
        [-1, 0],
      ]),
    );
    await page.getByRole('button', { name: 'queries' }).click();
    const bent = page.locator('[data-mark="words.plane"] g[transform*="matrix"]');
    await eventually(async () =>
      assert.match(await bent.getAttribute('transform'), /matrix\(0 1 -1 0 0 0\)/),
    );
    await picture(page, 'words-queries');
  });

  it('gives each picture as SVG, PNG, CSV and JSON', async () => {
    await start();
    const { answer } = await answered(page, '/api/words');
    const svg = (await saveAs(page, 'The plane', 'SVG picture')).bytes.toString();
    assert.match(svg, /^<svg .*xmlns="http:\/\/www.w3.org\/2000\/svg"/s);
    assert.ok(svg.includes('racket') && !svg.includes('class='), 'it stands alone');
    const png = (await saveAs(page, 'The plane', 'PNG picture')).bytes;
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    assert.ok(png.length > 5000);
    const csv = (await saveAs(page, 'Softmax weights', 'CSV table')).bytes
      .toString()
      .trim()
      .split('\r\n');
    assert.deepEqual(csv.map((line) => line.split(',')[0]).slice(1), ['bat', 'cave', 'racket']);
    csv.slice(1).forEach((line, i) =>
      line
        .split(',')
        .slice(1)
        .forEach((text, j) => expectFloat(text, answer.heads[0].weights[i][j])),
    );
    const json = JSON.parse((await saveAs(page, 'Similarity', 'JSON data')).bytes);
    assert.deepEqual(json.values, answer.heads[0].similarities);
    assert.equal(
      (await saveAs(page, 'Similarity', 'PNG picture')).bytes.subarray(1, 4).toString(),
      'PNG',
    );
    visit.expectNoComplaints();
  });

  it('gives a view as one HTML file that needs nothing else', async () => {
    await start('#words.digits=all');
    const { name, bytes } = await saved(page, () =>
      page.getByRole('button', { name: 'Save view' }).click(),
    );
    assert.equal(name, 'heed-words.html');
    visit.expectNoComplaints();
    const alone = await visit.context.newPage();
    const requests = [];
    alone.on('request', (request) => requests.push(request.url()));
    await alone.setContent(bytes.toString());
    const cell = alone.locator('[data-mark="words.weights"] td[data-cell]').first();
    assert.equal(
      await cell.textContent(),
      await page.locator('[data-mark="words.weights"] td[data-cell]').first().textContent(),
    );
    const data = JSON.parse(await alone.locator('script#data').textContent());
    assert.deepEqual(data.data.answer, page.answers.get('/api/words').answer);
    assert.equal(await alone.locator('script:not([type="application/json"])').count(), 0);
    assert.deepEqual(requests, []);
    await alone.close();
  });
});
