// The plane of words: what is dragged, switched and drawn changes the numbers, and the numbers are
// those of `heed attend`.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { answered, ask, eventually, expectFloat, heed, picture, Visit } from './rig.mjs';

const allDigits = '#words.digits=all';

describe('Words', () => {
  let visit, page;
  const folder = mkdtempSync(join(tmpdir(), 'heed_words_'));
  before(async () => {
    visit = await Visit.start({ fragment: allDigits });
    page = visit.page;
  });
  after(async () => {
    await visit?.end();
    rmSync(folder, { recursive: true });
  });

  const tableOf = (mark) =>
    page.locator(`[data-mark="${mark}"] tbody tr`).evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('td[data-cell]')].map((cell) => cell.textContent)),
    );

  // The state is in the address: what words there are, and where.
  async function wordsOnPage() {
    const words = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('words.words');
    return words ? JSON.parse(words) : [['bat', 3, 3], ['cave', 4, 0], ['racket', 0, 5]];
  }

  // What the command line says of the same words.
  function attend(words, similarity, mask) {
    const file = (name, rows) => {
      writeFileSync(join(folder, name), rows.map((row) => row.join(',')).join('\n') + '\n');
      return join(folder, name);
    };
    const extra = mask ? ['--mask', file('mask.csv', mask)] : [];
    const args = ['attend', file('words.csv', words), '--format', 'json', '--similarity', similarity];
    return JSON.parse(heed([...args, ...extra]));
  }

  // The tables and the contexts of the page are those of the engine.
  async function expectEngine(similarity, mask) {
    await eventually(async () => {
      const engine = attend(await wordsOnPage(), similarity, mask);
      const weights = await tableOf('words.weights');
      assert.equal(weights.length, engine.weights.length);
      weights.forEach((row, i) => row.forEach((cell, j) => expectFloat(cell, engine.weights[i][j])));
      const similarities = await tableOf('words.similarity');
      similarities.forEach((row, i) => row.forEach((cell, j) => expectFloat(cell, engine.similarity[i][j])));
      const { answer } = page.answers.get('/api/words');
      assert.deepEqual(answer.outputs.flat().map(Math.fround), engine.context.flat().map(Math.fround));
    });
  }

  it('open with bat, cave and racket, and nothing to complain of', async () => {
    await page.getByText('racket').first().waitFor();
    await expectEngine('cosine');
    await page.screenshot({ animations: 'disabled' });
    visit.expectNoComplaints();
    await picture(page, 'words');
  });

  it('change their numbers when one is dragged', async () => {
    const before = await tableOf('words.weights');
    const dot = page.locator('[data-mark="words.plane"] g[role="button"]').first();
    const box = await dot.locator('circle.dot').boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y + 25, { steps: 4 });
    await page.mouse.move(x + 90, y + 60, { steps: 4 });
    await page.mouse.up();
    await eventually(async () => assert.notDeepEqual((await wordsOnPage())[0], ['bat', 3, 3]));
    await expectEngine('cosine');
    assert.notDeepEqual(await tableOf('words.weights'), before);
    visit.expectNoComplaints();
  });

  it('are compared in three ways', async () => {
    const choice = page.locator('[data-mark="words.choose"] button');
    for (const [i, similarity] of ['dot', 'cosine', 'scaled-dot'].entries()) {
      await choice.nth(i).click();
      await expectEngine(similarity);
    }
  });

  it('do not see what a drawn mask hides', async () => {
    await visit.open(`${allDigits}&words.similarity=scaled-dot`);
    await page.locator('[data-mask="0,1"]').click();
    await expectEngine('scaled-dot', [[1, 0, 1], [1, 1, 1], [1, 1, 1]]);
    assert.equal((await tableOf('words.weights'))[0][1], '0');
  });

  it('have two heads that meet in an output matrix', async () => {
    await visit.open(allDigits);
    await page.locator('[data-mark="words.count"] button').nth(1).click();
    const outputs = page.locator('td[data-output]');
    await outputs.first().waitFor();
    const { asked, answer } = await answered(page, '/api/words', ({ asked }) => asked.heads.length === 2);
    const engine = await ask(page, '/api/words', asked);
    assert.deepEqual(answer, engine);
    for (const [i, cell] of (await outputs.all()).entries()) {
      const shown = (await cell.getAttribute('title')).split(', ');
      shown.forEach((text, d) => expectFloat(text, engine.outputs[i][d]));
    }
  });

  it('are stepped through, one calculation at a time', async () => {
    await visit.open(allDigits);
    const steps = page.locator('[data-mark="words.steps"]');
    await page.locator('[data-mark="words.step"]').click();
    await steps.locator('math').first().waitFor();
    const seen = new Set();
    for (let last = ''; ; ) {
      const now = await steps.innerText();
      if (now === last) break;
      seen.add(now);
      last = now;
      await page.keyboard.press('ArrowRight');
      await page.waitForTimeout(60);
    }
    assert.ok(seen.size > 15, `expected a calculation for each number, found ${seen.size}`);
    const { answer } = page.answers.get('/api/words');
    const shown = [...seen].join('\n').match(/-?\d+(\.\d+)?(e-?\d+)?/g).map(Number).map(Math.fround);
    for (const value of [...answer.heads[0].weights[0], ...answer.heads[0].contexts[0]]) {
      assert.ok(shown.includes(Math.fround(value)), `${value} is among the steps`);
    }
    await picture(page, 'words-steps');
    visit.expectNoComplaints();
  });

  it('never become markup', async () => {
    await visit.open(allDigits);
    const name = '<img src=x onerror=alert(1)>';
    page.once('dialog', () => page.complaints.push('a dialog'));
    await page.locator('[data-mark="words.sentence"] form input').fill(`${name.replaceAll(' ', '\u00a0')} `);
    await page.locator('[data-mark="words.sentence"] form input').press('Enter');
    await eventually(async () => assert.ok((await wordsOnPage()).length > 3));
    assert.equal(await page.locator('main img[src="x"]').count(), 0);
    visit.expectNoComplaints();
  });

  it('come back with the address', async () => {
    await visit.open('#words.words=[["left",-1,2],["right",2,1]]&words.similarity=dot&words.digits=all');
    await expectEngine('dot');
    assert.equal(await page.locator('[data-mark="words.weights"] tbody tr').count(), 2);
    visit.expectNoComplaints();
  });
});
