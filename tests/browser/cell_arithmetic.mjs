// The arithmetic of one attention weight, done again from the text that the page gives: nothing but
// the numbers and the orders that it gives, in 32-bit floats.
import { expBelow, float, laneSum, sumOfProducts } from './float_arithmetic.mjs';

// [{ id, side, title, order, rows: Map of name -> numbers, result: numbers }] of the page's text.
export function stepsOf(text) {
  const [, ...blocks] = text.trim().split('\n\n');
  return blocks.map(stepOf);
}

function stepOf(block) {
  const [head, ...lines] = block.split('\n');
  const [, id, side = '', title] = head.match(/^\[(\w+)(?: (\w+))?\] (.*)$/);
  const step = { id, side, title, order: '', rows: new Map(), result: [] };
  for (const line of lines) {
    const row = line.match(/^(.*) = (\[.*\]|\S+)$/);
    if (line.startsWith('order: ')) step.order = line.slice('order: '.length);
    else if (/^(formula|note): /.test(line) || !row) continue;
    else if (row[1] === 'result') step.result = numbersOf(row[2]);
    else step.rows.set(row[1], numbersOf(row[2]));
  }
  return step;
}

function numbersOf(text) {
  const list = text.replace(/^\[|\]$/g, '').trim();
  if (list === '') return [];
  return list.split(', ').map((number) => (number === '-inf' ? -Infinity : float(Number(number))));
}

function layerNorm(row, order) {
  const [x, gain, bias, [epsilon]] = ['x', 'gain', 'bias', 'epsilon'].map((name) => row(name));
  const mean = float(laneSum(x, order) / x.length);
  const apart = x.map((value) => float(value - mean));
  const squares = laneSum(apart.map((value) => float(value * value)), order);
  const inverse = float(1 / float(Math.sqrt(float(float(squares / x.length) + epsilon))));
  return apart.map((value, i) => float(float(float(value * inverse) * gain[i]) + bias[i]));
}

const each = (values, act) => values.map((value, i) => float(act(value, i)));

// RoPE: a vector's first half with its second half.
function rotation(x, cos, sin) {
  const half = cos.length;
  const times = (i, factor) => float(x[i] * factor);
  const first = each(cos, (_, i) => times(i, cos[i]) - times(i + half, sin[i]));
  const second = each(cos, (_, i) => times(i, sin[i]) + times(i + half, cos[i]));
  return [...first, ...second];
}

function position(row, { rows }) {
  if (!rows.has('cos')) return each(row('e'), (value, i) => value + row('p')[i]);
  const [[, vector]] = rows;
  return rotation(vector, row('cos'), row('sin'));
}

function matrixRows(step) {
  return [...step.rows].filter(([name]) => name.startsWith('W row ')).map(([, values]) => values);
}

// What each step does. Steps that only show numbers of the layers before, or compare two passes of
// the whole model, cannot be done again from the text.
const doing = {
  embedding: (row) => each(row('E'), (value) => value * row('scale')[0]),
  position,
  norm: (row, step) => layerNorm(row, step.order),
  query: projection,
  key: projection,
  value: projection,
  product: (row) => each(row('q'), (value, i) => value * row('k')[i]),
  sum: (row, step) => [sumOfProducts(row('q'), row('k'), step.order)],
  scale: (row) => [float(row('s')[0] * row('scale')[0])],
  mask: (row, step) => (step.result[0] === -Infinity ? [-Infinity] : row('s')),
  max: (row) => [Math.max(...row('scores'))],
  exp: (row) => [expBelow(float(row('s')[0] - row('M')[0]), row('constants'))],
  row_sum: (row, step) => [laneSum(row('exps'), step.order)],
  weight: (row) => [float(row('e')[0] * float(1 / row('sum')[0]))],
  weighted_value: (row) => each(row('v'), (value) => value * row('w')[0]),
  output_share: (row, step) =>
    matrixRows(step).map((columns) => sumOfProducts(row('w v'), columns, step.order)),
};

function projection(row, step) {
  const bias = row('bias');
  return matrixRows(step).map((weights, c) =>
    float(sumOfProducts(row('x'), weights, step.order) + bias[c]),
  );
}

// The result of a step from its own rows; null where the text does not hold enough for it.
export function recomputed(step) {
  const row = (name) => {
    const found = step.rows.get(name);
    if (found === undefined) throw new Error(`${step.id}: expected the row ${name}, found none`);
    return found;
  };
  return doing[step.id] ? doing[step.id](row, step) : null;
}
