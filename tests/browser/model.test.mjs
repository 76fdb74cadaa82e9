// A model's views: every number on them is asked of the engine once more, or done again by hand.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { expBelow, float, laneSum, sumOfProducts } from './float_arithmetic.mjs';
import { Models } from './models.mjs';
import { ask, askFloats, eventually, expectFloat, heed, picture, Visit } from './rig.mjs';

const sentence = 'The grey mouse avoided the big board because it was curious.';
const at = (fields) =>
  '#view=model&' +
  Object.entries({ text: sentence, ...fields })
    .map(([name, value]) => `model.${name}=${encodeURIComponent(value)}`)
    .join('&');

// The numbers of a bar chart, column after column.
const barsOf = (page, mark) =>
  page.locator(`[data-mark="${mark}"] [data-exact]`).evaluateAll((all) => all.map((one) => one.dataset.exact));

function expectBars(bars, columns) {
  const values = columns.flat();
  assert.equal(bars.length, values.length);
  bars.forEach((bar, i) => {
    if (values[i] !== null) expectFloat(bar, values[i]);
  });
}

describe('Model', () => {
  const models = new Models();
  let visit, page, folder;
  before(async () => {
    folder = models.translation();
    visit = await Visit.start({ args: ['--model', folder], fragment: at({}) });
    page = visit.page;
  });
  after(async () => {
    await visit.end();
    models.remove();
  });

  const open = async (fields) => {
    page.answers.clear();
    await visit.open(at(fields));
    return eventually(() => {
      const run = page.answers.get('/api/run');
      assert.ok(run?.answer);
      return run.answer;
    });
  };

  it('answers as on the command line', async () => {
    const answer = await page.locator('[data-test="answer"]').first().textContent();
    assert.equal(answer, heed(['translate', '--model', folder, '--threads', '1'], `${sentence}\n`).trimEnd());
    visit.expectNoComplaints();
  });

  it('shows every head of every layer', async () => {
    const run = await open({});
    const heads = run.sites.reduce((sum, site) => sum + site.heads, 0);
    const thumbs = page.locator('[data-mark="model.overview"] canvas');
    await eventually(async () => assert.equal(await thumbs.count(), heads));
    const text = await page.locator('[data-mark="model.overview"]').innerText();
    for (const { head_facts } of run.sites) {
      for (const { label } of head_facts) assert.ok(text.includes(label), `${label} is named`);
    }
    await picture(page, 'model-overview');
    visit.expectNoComplaints();
  });

  it('shows the weight under the pointer, to the last bit', async () => {
    const run = await open({ site: 'encoder.1.self_attention', head: 1 });
    const weights = await askFloats(page, `/api/trace/${run.trace}/weights?site=encoder.1.self_attention`);
    const count = run.source.pieces.length;
    const canvas = page.locator('[data-test="matrix"]');
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    for (const [query, key] of [[0, 0], [2, 1], [count - 1, count - 1]]) {
      await page.mouse.move(box.x + ((key + 0.5) * box.width) / count, box.y + ((query + 0.5) * box.height) / count);
      const written = await page.locator('[data-test="weight"]').textContent();
      expectFloat(written, weights[(1 * count + query) * count + key]);
    }
    await picture(page, 'model-head');
    visit.expectNoComplaints();
  });

  // The text that the page gives to copy, as steps with their rows.
  function stepsIn(text) {
    const numbers = (list) =>
      list.match(/-?(inf|\d+(\.\d+)?(e[-+]?\d+)?)/g)?.map((one) => (one === '-inf' ? -Infinity : Number(one))) ?? [];
    return text.split('\n\n').slice(1).map((part) => {
      const lines = part.trim().split('\n');
      const rows = lines.filter((line) => / = (\[|-?[\d.]|-inf)/.test(line) && !/^(order|note|formula):/.test(line));
      return {
        id: lines[0].match(/^\[(\w+)\]/)[1],
        order: lines.find((line) => line.startsWith('order: '))?.slice(7) ?? '',
        rows: Object.fromEntries(rows.map((row) => [row.split(' = ')[0], numbers(row.slice(row.indexOf(' = ')))])),
      };
    });
  }

  it('opens one weight, whose arithmetic can be done again from the text', async () => {
    const run = await open({ site: 'encoder.0.self_attention', head: 0 });
    const count = run.source.pieces.length;
    const [query, key] = [3, 1];
    const canvas = page.locator('[data-test="matrix"]');
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.click(box.x + ((key + 0.5) * box.width) / count, box.y + ((query + 0.5) * box.height) / count);
    const text = await page.locator('[data-test="cell-text"]').textContent();
    const steps = Object.fromEntries(stepsIn(text).map((step) => [step.id, step]));

    const { q, k, result: sum } = steps.sum.rows;
    assert.equal(sumOfProducts(q, k), float(sum[0]), 'the sum of the products');
    const [scale] = steps.scale.rows.scale;
    const score = float(float(sum[0]) * float(scale));
    assert.equal(score, float(steps.scale.rows.result[0]), 'the scaled score');
    const scores = steps.max.rows.scores.map(float);
    assert.equal(scores[key], score);
    const most = Math.max(...scores);
    assert.equal(most, float(steps.max.rows.result[0]), 'the largest score');
    const constants = steps.exp.rows.constants.map(float);
    const exps = scores.map((one) => expBelow(float(one - most), constants));
    assert.equal(exps[key], float(steps.exp.rows.result[0]), 'the exponential');
    const rowSum = laneSum(exps, steps.row_sum.order);
    assert.equal(rowSum, float(steps.row_sum.rows.result[0]), 'the sum of the row');
    const weight = float(exps[key] * float(1 / rowSum));
    assert.equal(weight, float(steps.weight.rows.result[0]), 'the weight');

    const weights = await askFloats(page, `/api/trace/${run.trace}/weights?site=encoder.0.self_attention`);
    assert.equal(weight, weights[query * count + key], 'the weight that the engine used');
    await page.locator('[data-mark="model.cell"]').scrollIntoViewIfNeeded();
    await picture(page, 'model-cell');
    visit.expectNoComplaints();
  });

  it('shows the way of every token through the layers', async () => {
    const run = await open({ panel: 'paths' });
    const tokens = page.locator('[data-test="path-token"]');
    await eventually(async () => assert.equal(await tokens.count(), run.source.pieces.length));
    const paths = await ask(page, `/api/trace/${run.trace}/paths`);
    assert.deepEqual(page.answers.get('/api/trace/ID/paths').answer, paths, 'the plane stays as it is');
    await picture(page, 'model-paths');
    visit.expectNoComplaints();
  });

  it('answers anew when a head is switched off', async () => {
    await open({ panel: 'changes' });
    await page.locator('[data-test="switch-decoder.1.cross_attention-0"]').click();
    await page.locator('[data-test="verdict"]').waitFor();
    const { asked } = page.answers.get('/api/run');
    assert.deepEqual(asked.changes.heads, [{ site: 'decoder.1.cross_attention', head: 0, scale: 0 }]);
    const { compare } = await ask(page, '/api/run', asked);
    assert.equal(await page.locator('[data-test="before"] [data-test="answer"]').textContent(), compare.before.text);
    assert.equal(await page.locator('[data-test="after"] [data-test="answer"]').textContent(), compare.after.text);
    assert.ok(compare.tokens.some(({ before, after }) => before !== after), 'a head does something');
    const bars = await barsOf(page, 'model.outcome');
    expectBars(bars.slice(0, 2 * compare.tokens.length), [
      compare.tokens.map(({ before }) => before),
      compare.tokens.map(({ after }) => after),
    ]);
    await picture(page, 'model-what-if');
    visit.expectNoComplaints();
  });

  it('tells attention, attribution and cause apart', async () => {
    const run = await open({ panel: 'truth', target: 1 });
    await page.locator('[data-test="predicted"]').waitFor();
    const truth = await ask(page, `/api/trace/${run.trace}/truth?target=1`);
    expectFloat(await page.locator('[data-test="predicted"]').textContent(), truth.predicted.probability);
    expectBars(
      await barsOf(page, 'model.truth'),
      ['attention', 'gradient_x_input', 'leave_one_out'].map((kind) => truth.inputs.map((input) => input[kind])),
    );
    await picture(page, 'model-truth');
    visit.expectNoComplaints();
  });

  it('shows the beam and the next token', async () => {
    const run = await open({ panel: 'decoding', beam: 3 });
    await page.locator('[data-mark="model.beam"] svg g').first().waitFor();
    const beam = await ask(page, `/api/trace/${run.trace}/beam?size=3`);
    assert.deepEqual(page.answers.get('/api/trace/ID/beam').answer, beam);
    assert.equal(await page.locator('[data-mark="model.beam"] svg g.best').count() >= beam.best.length - 1, true);

    const { answer: before } = page.answers.get('/api/next');
    await page.locator('[data-test="temperature"]').fill('0.5');
    await eventually(() => assert.equal(page.answers.get('/api/next').asked.temperature, 0.5));
    const { asked } = page.answers.get('/api/next');
    const next = await ask(page, '/api/next', asked);
    assert.ok(next.tokens[0].chance > before.tokens[0].chance, 'less heat, more of the likeliest');
    const shown = next.tokens.slice(0, 25);
    await eventually(async () =>
      expectBars(await barsOf(page, 'model.next'), [
        shown.map(({ probability }) => probability),
        shown.map(({ chance }) => chance),
      ]),
    );
    await picture(page, 'model-decoding');
    visit.expectNoComplaints();
  });

  it('shows a sentence as text, whatever is in it', async () => {
    page.once('dialog', () => page.complaints.push('a dialog'));
    await page.locator('#sentence').fill('<script>alert(1)</script> <b>mouse</b>');
    await page.locator('#sentence').press('Enter');
    await eventually(() => assert.match(page.answers.get('/api/run').asked.text, /script/));
    await page.locator('[data-test="answer"]').first().waitFor();
    assert.equal(await page.locator('main b').count(), 0);
    visit.expectNoComplaints();
  });
});

describe('Other models', () => {
  const models = new Models();
  after(() => models.remove());

  it('write on', async () => {
    const visit = await Visit.start({ args: ['--model', models.language()], fragment: at({ text: 'The grey' }) });
    try {
      const { page } = visit;
      await page.locator('[data-test="answer"]').first().waitFor();
      const written = JSON.parse(
        heed(['generate', '--model', models.path('language'), '--prompt', 'The grey', '--temperature', '0',
              '--max-tokens', '20', '--json', '--threads', '1']),
      );
      assert.equal(await page.locator('[data-test="answer"]').first().textContent(), written.text);
      await page.locator('[data-mark="model.overview"] canvas').first().waitFor();
      visit.expectNoComplaints();
    } finally {
      await visit.end();
    }
  });

  it('tell classes', async () => {
    const visit = await Visit.start({ args: ['--model', models.classifier()], fragment: at({}) });
    try {
      const { page } = visit;
      const answer = page.locator('[data-mark="model.answer"]').first();
      await answer.waitFor();
      const [best] = JSON.parse(
        heed(['classify', '--model', models.path('classifier'), '--json', '--threads', '1'], `${sentence}\n`),
      ).classes;
      assert.match(await answer.innerText(), new RegExp(`\\b${best.label}\\b`));
      expectFloat(await answer.locator('[data-exact]').first().getAttribute('data-exact'), best.probability);
      await page.locator('[data-mark="model.overview"] canvas').first().waitFor();
      visit.expectNoComplaints();
    } finally {
      await visit.end();
    }
  });
});
