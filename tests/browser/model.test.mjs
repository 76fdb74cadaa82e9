// A model's views: every number on them is asked of the engine once more, or done again by hand.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { recomputed, stepsOf } from './cell_arithmetic.mjs';
import { float } from './float_arithmetic.mjs';
import { Models } from './models.mjs';
import { answered, ask, askFloats, eventually, expectFloat, heed, picture, saveAs, Visit } from './rig.mjs';

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
    await visit?.end();
    models.remove();
  });

  const open = async (fields) => {
    page.answers.clear();
    await visit.open(at(fields));
    return (await answered(page, '/api/run')).answer;
  };

  const field = (name) =>
    page.evaluate((name) => new URLSearchParams(location.hash.slice(1)).get(name), `model.${name}`);

  // Does something in the middle of a cell of the matrix.
  async function onCell(queries, keys, query, key, act) {
    const canvas = page.locator('[data-test="matrix"]');
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await act(box.x + ((key + 0.5) * box.width) / keys, box.y + ((query + 0.5) * box.height) / queries);
  }

  // Until the matrix shows this weight under the pointer; while a page is loading, things move.
  function expectShown(queries, keys, query, key, weight) {
    return eventually(async () => {
      await onCell(queries, keys, query, key, (x, y) => page.mouse.move(x, y));
      expectFloat(await page.locator('[data-test="weight"]').textContent(), weight);
    });
  }

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
    for (const [query, key] of [[0, 0], [2, 1], [count - 1, count - 1]]) {
      await expectShown(count, count, query, key, weights[(1 * count + query) * count + key]);
    }
    await picture(page, 'model-head');
    visit.expectNoComplaints();
  });

  // Clicks a cell and takes the text that the page gives to copy.
  async function cellText(queries, keys, query, key) {
    await eventually(async () => {
      await onCell(queries, keys, query, key, (x, y) => page.mouse.click(x, y));
      assert.equal(await field('cell'), `[${query},${key}]`);
    });
    return page.locator('[data-test="cell-text"]').textContent();
  }

  // To the last bit: the sign of a zero counts.
  function expectSameFloats(found, expected, message) {
    assert.deepEqual(found.map(float), expected.map(float), message);
  }

  // Every step that has its numbers in the text gives its result again, to the last bit.
  function expectDoneAgain(steps) {
    for (const step of steps) {
      const again = recomputed(step);
      if (again !== null) expectSameFloats(again, step.result, `${step.id} ${step.side}: ${step.title}`);
    }
  }

  // What a step reads is what an earlier one has made.
  function expectChained(steps) {
    const result = (id) => steps.find((step) => step.id === id).result;
    const row = (id, name) => steps.find((step) => step.id === id).rows.get(name);
    // RoPE rotates queries and keys after their projection.
    const positioned = (id) => {
      const next = steps[steps.findIndex((step) => step.id === id) + 1];
      return next.id === 'position' ? next.result : result(id);
    };
    expectSameFloats(row('sum', 'q'), positioned('query'), 'the query');
    expectSameFloats(row('sum', 'k'), positioned('key'), 'the key');
    expectSameFloats(row('scale', 's'), result('sum'), 'the sum');
    expectSameFloats(row('exp', 's'), result('mask'), 'the score');
    expectSameFloats(row('exp', 'M'), result('max'), 'the largest score');
    expectSameFloats(row('weight', 'e'), result('exp'), 'the exponential');
    expectSameFloats(row('weight', 'sum'), result('row_sum'), 'the sum of the row');
    expectSameFloats(row('weighted_value', 'w'), result('weight'), 'the weight');
    expectSameFloats(row('weighted_value', 'v'), result('value'), 'the value');
    expectSameFloats(row('output_share', 'w v'), result('weighted_value'), 'the weighted value');
  }

  it('opens one weight, whose arithmetic can be done again from the text', async () => {
    const run = await open({ site: 'encoder.0.self_attention', head: 0 });
    const count = run.source.pieces.length;
    const [query, key] = [3, 1];
    const steps = stepsOf(await cellText(count, count, query, key));
    expectDoneAgain(steps);
    expectChained(steps);
    assert.ok(steps.filter((step) => recomputed(step) !== null).length >= 14, 'most steps can be done again');

    const weights = await askFloats(page, `/api/trace/${run.trace}/weights?site=encoder.0.self_attention`);
    const [weight] = steps.find(({ id }) => id === 'weight').result;
    assert.equal(float(weight), weights[query * count + key], 'the weight that the engine used');
    assert.equal(float(recomputed(steps.find(({ id }) => id === 'weight'))[0]), weights[query * count + key]);
    await page.locator('[data-mark="model.cell"]').scrollIntoViewIfNeeded();
    await picture(page, 'model-cell');
    visit.expectNoComplaints();
  });

  it('does so between the two languages, and for a masked cell', async () => {
    const run = await open({ site: 'decoder.1.cross_attention', head: 1 });
    const [queries, keys] = [run.target.pieces.length, run.source.pieces.length];
    const cross = stepsOf(await cellText(queries, keys, queries - 1, 2));
    expectDoneAgain(cross);
    expectChained(cross);
    await open({ site: 'decoder.0.self_attention', head: 0 });
    const masked = stepsOf(await cellText(queries, queries, 0, queries - 1));
    expectDoneAgain(masked);
    assert.equal(masked.find(({ id }) => id === 'mask').result[0], -Infinity);
    assert.equal(masked.find(({ id }) => id === 'weight').result[0], 0);
    const { result } = masked.find(({ id }) => id === 'weighted_value');
    assert.ok(result.some((value) => Object.is(value, -0)), 'nothing of a negative value is -0');
    assert.match(await page.locator('[data-step="weighted_value"] dd.result').innerText(), /(^|\s)-0(\s|$)/);
    visit.expectNoComplaints();
  });

  it('copies the text', async () => {
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const run = await open({ site: 'encoder.0.self_attention', head: 0 });
    const count = run.source.pieces.length;
    const text = await cellText(count, count, 0, 1);
    await page.getByRole('button', { name: 'Copy as text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
    visit.expectNoComplaints();
  });

  // The engine adds up; by hand it is the same but for the last rounding.
  it('shows words and hides special tokens with numbers of the engine', async () => {
    const place = { site: 'encoder.1.self_attention', head: 1, byWord: true, hideSpecial: true };
    const { trace, source } = await open(place);
    const count = source.pieces.length;
    const weights = await askFloats(page, `/api/trace/${trace}/weights?site=${place.site}`);
    const shown = await askFloats(page, `/api/trace/${trace}/weights?site=${place.site}&words=1&special=0`);
    const kept = source.pieces.map((_, i) => i).filter((i) => !source.special[i]);
    assert.ok(kept.length < count, 'there is a special token');
    const words = [...new Set(kept.map((i) => source.words[i]))];
    assert.ok(words.length < kept.length, 'a word has several pieces');
    const piecesOf = (word) => kept.filter((i) => source.words[i] === word);
    const sum = (query, keys) => keys.reduce((sum, key) => sum + weights[(count + query) * count + key], 0);
    for (const [i, j] of [[0, 1], [words.length - 1, 2]]) {
      const weight = shown[(words.length + i) * words.length + j];
      await expectShown(words.length, words.length, i, j, weight);
      const queries = piecesOf(words[i]);
      const shares = queries.map((query) => sum(query, piecesOf(words[j])) / sum(query, kept));
      const mean = shares.reduce((a, b) => a + b) / shares.length;
      assert.ok(Math.abs(weight - mean) < 1e-7, `${weight} is ${mean}`);
    }
    visit.expectNoComplaints();
  });

  it('gives all heads as one picture', async () => {
    const run = await open({});
    await page.locator('[data-mark="model.overview"] canvas').first().waitFor();
    const svg = (await saveAs(page, 'All heads', 'SVG picture')).bytes.toString();
    const heads = run.sites.reduce((sum, site) => sum + site.heads, 0);
    assert.equal(svg.match(/<image /g).length, heads);
    assert.ok(svg.includes(run.sites[0].head_facts[0].label));
    visit.expectNoComplaints();
  });

  it('walks over heads and cells by keyboard', async () => {
    await open({});
    await page.locator('[data-mark="model.overview"] canvas').first().waitFor();
    for (const key of ['ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.locator('[data-test="matrix"]').waitFor();
    assert.equal(await field('site'), 'encoder.1.self_attention');
    assert.equal(await field('head'), '1');
    await page.keyboard.press('ArrowUp');
    await eventually(async () => assert.equal(await field('site'), 'encoder.0.self_attention'));
    await page.locator('[data-test="matrix"]').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.locator('[data-step="weight"]').waitFor();
    assert.equal(await field('cell'), '[1,1]');
    for (const name of ['cell', 'site']) {
      await page.keyboard.press('Escape');
      await eventually(async () => assert.equal(await field(name), null));
    }
    await page.goBack();
    await page.locator('[data-test="matrix"]').waitFor();
    visit.expectNoComplaints();
  });

  it('shows the way of every token through the layers', async () => {
    const run = await open({ panel: 'paths' });
    const tokens = page.locator('[data-test="path-token"]');
    await eventually(async () => assert.equal(await tokens.count(), run.source.pieces.length));
    const paths = await ask(page, `/api/trace/${run.trace}/paths`);
    const { answer } = await answered(page, '/api/trace/ID/paths');
    assert.deepEqual(answer, paths, 'the plane stays as it is');
    await picture(page, 'model-paths');
    visit.expectNoComplaints();
  });

  it('answers anew when a head is switched off', async () => {
    await open({ panel: 'interventions' });
    await page.locator('[data-test="switch-decoder.1.cross_attention-0"]').click();
    await page.locator('[data-test="verdict"]').waitFor();
    const { asked } = await answered(page, '/api/run', ({ asked }) => asked.interventions?.head_scales.length > 0);
    assert.deepEqual(asked.interventions.head_scales, [{ site: 'decoder.1.cross_attention', head: 0, scale: 0 }]);
    const { compare } = await ask(page, '/api/run', asked);
    assert.equal(await page.locator('[data-test="before"] [data-test="answer"]').textContent(), compare.before.text);
    assert.equal(await page.locator('[data-test="after"] [data-test="answer"]').textContent(), compare.after.text);
    assert.ok(compare.tokens.some(({ before, after }) => before !== after), 'a head does something');
    const bars = await barsOf(page, 'model.outcome');
    const shown = compare.tokens.slice(0, bars.length / 3); // long answers are folded
    assert.ok(shown.length >= Math.min(compare.tokens.length, 20));
    expectBars(bars, [
      shown.map(({ before }) => before),
      shown.map(({ after }) => after),
      shown.map(({ difference }) => difference),
    ]);
    await picture(page, 'model-what-if');
    visit.expectNoComplaints();
  });

  it('says in a sentence that an intervention leaves no answer', async () => {
    const head_scales = [{ site: 'encoder.0.self_attention', head: 0, scale: 3e38 }];
    const interventions = JSON.stringify({ head_scales, knockouts: [], similarity: null, replacements: [] });
    await open({ panel: 'interventions', interventions });
    const alert = page.getByRole('alert').first();
    await alert.waitFor();
    assert.match(await alert.textContent(), /NaN or infinity \(an intervention is too large/);
    page.complaints.length = 0; // the refusal
    await open({});
    await page.locator('[data-test="answer"]').first().waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    visit.expectNoComplaints();
  });

  it('answers anew when a word is replaced and a link blocked', async () => {
    const site = 'encoder.0.self_attention';
    const run = await open({ panel: 'interventions' });
    const field = page.getByRole('textbox', { name: 'grey', exact: true });
    await field.fill('small');
    await field.press('Enter');
    await eventually(() => assert.equal(page.answers.get('/api/run').asked.interventions?.replacements[0].text, 'small'));
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await eventually(() => assert.equal(page.answers.get('/api/run').asked.interventions?.knockouts.length, 1));
    const { asked, answer } = page.answers.get('/api/run');
    assert.ok(answer.source.word_texts.includes('small') && run.source.word_texts.includes('grey'));
    const { query, key } = asked.interventions.knockouts[0];
    const weights = await askFloats(page, `/api/trace/${answer.trace}/weights?site=${site}`);
    const count = answer.source.pieces.length;
    assert.equal(weights[query * count + key], 0, 'no head looks along a blocked link');
    await page.getByRole('button', { name: 'Undo all' }).click();
    await eventually(() => assert.equal(page.answers.get('/api/run').asked.interventions, null));
    visit.expectNoComplaints();
  });

  it('reads the addresses of an older page', async () => {
    const head = { site: 'decoder.1.cross_attention', head: 0, scale: 0 };
    const changes = { heads: [head], links: [], similarity: null, replace: [] };
    await open({ panel: 'changes', changes: JSON.stringify(changes) });
    await page.locator('[data-test="verdict"]').waitFor();
    const { asked } = await answered(page, '/api/run');
    assert.deepEqual(asked.interventions.head_scales, [head]);
    await open({ panel: 'truth' });
    await page.locator('[data-test="predicted"]').waitFor();
    visit.expectNoComplaints();
  });

  it('keeps the names of words that the model does not know', async () => {
    await open({ panel: 'interventions', text: 'The 鼠 slept.' });
    await page.getByRole('textbox', { name: '鼠', exact: true }).waitFor();
    visit.expectNoComplaints();
  });

  it('tells attention, attribution and cause apart', async () => {
    const run = await open({ panel: 'attribution', target: 1 });
    await page.locator('[data-test="predicted"]').waitFor();
    const attribution = await ask(page, `/api/trace/${run.trace}/attribution?target=1`);
    expectFloat(await page.locator('[data-test="predicted"]').textContent(), attribution.predicted.probability);
    expectBars(
      await barsOf(page, 'model.attribution'),
      ['attention', 'gradient_x_input', 'leave_one_out'].map((kind) => attribution.inputs.map((input) => input[kind])),
    );
    await picture(page, 'model-attribution');
    visit.expectNoComplaints();
  });

  it('shows the beam and the next token', async () => {
    const run = await open({ panel: 'decoding', beam: 3 });
    await page.locator('[data-mark="model.beam"] svg g').first().waitFor();
    const beam = await ask(page, `/api/trace/${run.trace}/beam?size=3`);
    assert.deepEqual((await answered(page, '/api/trace/ID/beam')).answer, beam);
    assert.equal(await page.locator('[data-mark="model.beam"] svg g.best').count() >= beam.best.length - 1, true);

    const { answer: before } = await answered(page, '/api/next');
    await page.locator('[data-test="temperature"]').fill('0.5');
    const { asked } = await answered(page, '/api/next', ({ asked }) => asked.temperature === 0.5);
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

// A frame at 60 a second has 16.7 ms; the time of the page's own thread counts, for other programs
// may keep the processor busy.
const frameTime = 1000 / 60;

async function threadTime(page, act) {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () =>
    (await client.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
  const start = await busy();
  await act();
  return 1000 * ((await busy()) - start);
}

// The pointer stands on another cell in every frame; returns when the frames were.
function framesUnderPointer(canvas, count) {
  return canvas.evaluate(async (element, count) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const times = [];
    for (let i = 0; i < count; ++i) {
      const clientX = left + (width * (i + 0.5)) / count;
      const clientY = top + (height * (((7 * i) % count) + 0.5)) / count;
      element.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
      times.push(await new Promise(requestAnimationFrame));
    }
    return times;
  }, count);
}

describe('Other models', () => {
  const models = new Models();
  after(() => models.remove());

  it('continue a text', async () => {
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

  it('classify', async () => {
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

  it('stay smooth under the pointer with 512 tokens', async (test) => {
    const text = Array.from({ length: 330 }, (_, i) => ['cat', 'dog', 'chair'][i % 3]).join(' ');
    const visit = await Visit.start({
      args: ['--model', models.classifier()],
      fragment: at({ text, site: 'encoder.0.self_attention' }),
    });
    try {
      const { page } = visit;
      const canvas = page.locator('[data-test="matrix"]');
      await canvas.scrollIntoViewIfNeeded();
      const tokens = Number(await canvas.getAttribute('width'));
      assert.ok(tokens >= 512, `${tokens} tokens`);
      let times = [];
      const spent = await threadTime(page, async () => {
        times = await framesUnderPointer(canvas, 120);
      });
      const frame = spent / times.length;
      const waits = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
      const median = waits[waits.length >> 1];
      test.diagnostic(`${tokens} tokens: ${frame.toFixed(2)} ms of the page's own thread a frame`);
      test.diagnostic(`a frame every ${median.toFixed(1)} ms (median), on this machine as it was`);
      assert.ok(frame < frameTime, `a frame took ${frame} ms`);
      visit.expectNoComplaints();
    } finally {
      await visit.end();
    }
  });
});
