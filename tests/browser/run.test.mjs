// A training run, watched live and looked back at.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { Models } from './models.mjs';
import { ask, eventually, expectFloat, picture, saveAs, Visit } from './rig.mjs';

describe('Run', () => {
  const models = new Models();
  let visit, page, training;
  const log = () => {
    const lines = readFileSync(models.path('live/training/metrics.jsonl'), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  };
  before(async () => {
    training = models.startTraining('live');
    await eventually(() => assert.ok(existsSync(models.path('live/model.safetensors'))));
    visit = await Visit.start({ args: ['--model', models.path('live')], fragment: '#view=run' });
    page = visit.page;
  });
  after(async () => {
    await training?.end('SIGKILL');
    await visit?.end();
    models.remove();
  });

  const fact = (name) => page.locator(`[data-mark="run.facts"] [data-test="${name}"]`);
  const shownUpdate = async () => Number(await fact('Update').getAttribute('title'));

  it('moves on while one looks', async () => {
    await fact('Update').waitFor();
    assert.match(await page.locator('[role="status"]').first().textContent(), /is live/);
    const first = await shownUpdate();
    await eventually(async () => assert.ok((await shownUpdate()) > first + 10, 'the page is told of updates'));
    assert.ok((await page.locator('[data-mark="run.curves"] canvas').count()) >= 3);
    visit.expectNoComplaints();
  });

  it('says when it has ended, with the last numbers of the log', async () => {
    await training.end('SIGINT');
    const updates = log().filter(({ kind }) => kind === 'update');
    const validations = log().filter(({ kind }) => kind === 'validation');
    await eventually(async () => {
      assert.match(await page.locator('[role="status"]').first().textContent(), /ended/);
      assert.equal(await shownUpdate(), updates.at(-1).update);
    });
    expectFloat(await fact('Loss').getAttribute('title'), updates.at(-1).loss);
    expectFloat(await fact('Held-out loss').getAttribute('title'), validations.at(-1).loss);
    const { source, output } = validations.at(-1).samples[0];
    const samples = page.locator('[data-mark="run.samples"]');
    assert.ok((await samples.innerText()).includes(source));
    assert.equal(await samples.locator('td.answer').first().textContent(), output, 'the newest answer');
    await picture(page, 'run');
    visit.expectNoComplaints();
  });

  it('gives its curves as SVG, PNG and CSV', async () => {
    const svg = (await saveAs(page, 'Loss', 'SVG picture')).bytes.toString();
    assert.match(svg, /^<svg .*xmlns="http:\/\/www.w3.org\/2000\/svg"/s);
    const [, path] = svg.match(/<path [^>]*d="([^"]+)"/);
    const updates = log().filter(({ kind }) => kind === 'update');
    assert.ok(path.match(/[ML]/g).length >= Math.min(updates.length, 1000), 'a point for each update');
    const png = (await saveAs(page, 'Loss', 'PNG picture')).bytes;
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    const [, first] = (await saveAs(page, 'Loss', 'CSV table')).bytes.toString().split('\r\n');
    assert.equal(Number(first.split(',')[1]), updates[0].loss);
    visit.expectNoComplaints();
  });

  it('can be looked back at, checkpoint by checkpoint', async () => {
    await visit.open('#view=run');
    const slider = page.locator('[data-mark="model.checkpoint"] input');
    await slider.waitFor();
    const { updates } = await ask(page, '/api/checkpoints');
    assert.ok(updates.length >= 2);
    await slider.fill('0');
    await eventually(async () => {
      const { asked, answer } = page.answers.get('/api/run');
      assert.equal(asked.checkpoint, updates[0]);
      assert.equal(await page.locator('[data-test="answer"]').first().textContent(), answer.answer.text);
    });
    await picture(page, 'run-checkpoint');
    visit.expectNoComplaints();
  });

  it('says that too many tabs show it', async () => {
    await visit.open('#view=lessons'); // and so leaves its own stream
    const [cookie] = await visit.context.cookies();
    const headers = { Cookie: `${cookie.name}=${cookie.value}` };
    const streams = [];
    try {
      for (let isOpen = true; isOpen && streams.length < 100; ) {
        streams.push(get(`${visit.explorer.origin}/api/training/events`, { headers }).on('error', () => {}));
        const [answer] = await once(streams.at(-1), 'response');
        isOpen = answer.statusCode === 200;
      }
      await visit.open('#view=run');
      await page.getByText('too many tabs show it').waitFor();
      page.complaints.length = 0; // the refusal
    } finally {
      streams.forEach((stream) => stream.destroy());
    }
    await eventually(async () => {
      await visit.open('#view=run');
      await fact('Update').waitFor({ timeout: 5000 }); // the server hears of their end a little later
    });
  });
});
