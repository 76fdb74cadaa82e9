// The guided path, walked from end to end.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Models } from './models.mjs';
import { eventually, expectFloat, picture, Visit } from './rig.mjs';

const order = [
  'similarity', 'softmax', 'attention without parameters', 'query', 'heads', 'masks', 'positions',
  'norm', 'feed-forward', 'encoder', 'decoder', 'training',
];

describe('Lessons', () => {
  const models = new Models();
  let visit, page;
  before(async () => {
    visit = await Visit.start({ args: ['--model', models.translation()], fragment: '#view=lessons' });
    page = visit.page;
  });
  after(async () => {
    await visit?.end();
    models.remove();
  });

  it('come in the order in which things build on each other', async () => {
    const titles = page.locator('ol li strong');
    await titles.first().waitFor();
    const found = (await titles.allTextContents()).map((title) => title.toLowerCase());
    assert.equal(found.length, order.length);
    found.forEach((title, i) => assert.ok(title.includes(order[i]), `${title} is about ${order[i]}`));
    await picture(page, 'lessons');
    visit.expectNoComplaints();
  });

  it('drive the views and end where they began', async () => {
    await page.locator('ol li button').first().click();
    const seen = [];
    for (;;) {
      const panel = page.locator('article.panel');
      await eventually(async () => assert.ok((await panel.count()) === 1 || (await page.locator('ol li strong').count()) > 0));
      if ((await panel.count()) === 0) break;
      const text = await panel.innerText();
      assert.ok(!seen.includes(text), 'every page is a new one');
      seen.push(text);
      await page.locator('[data-lit]').first().waitFor();
      if (seen.length === 3) await picture(page, 'lesson');
      await page.keyboard.press('n');
      await eventually(async () =>
        assert.ok((await panel.count()) === 0 || (await panel.innerText()) !== text, 'the next page opens'),
      );
    }
    assert.ok(seen.length >= order.length, `expected a page for each lesson, found ${seen.length}`);
    visit.expectNoComplaints();
  });

  it('speak of the user’s own sentence, in the engine’s numbers', async () => {
    await visit.open('#view=lessons');
    await page.getByLabel('Your own sentence').fill('dark night');
    await page.getByRole('button', { name: 'Use' }).click();
    await page.locator('ol li button').first().click();
    const seen = page.locator('[data-seen]');
    await eventually(async () => assert.match(await seen.textContent(), /^dark · night = /));
    await eventually(async () => {
      const { asked, answer } = page.answers.get('/api/words');
      assert.deepEqual(asked.words.map(({ name }) => name), ['dark', 'night']);
      expectFloat((await seen.textContent()).split(' = ')[1], answer.heads[0].similarities[0][1]);
    });
  });

  it('put common slips right', async () => {
    const slip = page.locator('article.panel .slip');
    await visit.open('#view=lessons&lessons.lesson=0&lessons.page=2');
    await eventually(async () => assert.match(await slip.innerText(), /square root of one head’s width/));
    await visit.open('#view=lessons&lessons.lesson=7');
    await eventually(async () => assert.match(await slip.innerText(), /mean 0 and variance 1/));
    visit.expectNoComplaints();
  });
});
