// The arithmetic of one attention weight, done again from the text that the page gives: nothing but
// the numbers and the orders that stand there, in 32-bit floats.

const f32 = Math.fround;

// a * b + c rounded once. The product of two floats is exact as a double; the sum is made odd where
// it is inexact, so that rounding it to a float rounds the exact sum.
function fused(a, b, c) {
  const product = a * b;
  const sum = product + c;
  const back = sum - product;
  const lost = product - (sum - back) + (c - back);
  return f32(lost === 0 || !Number.isFinite(sum) ? sum : madeOdd(sum, lost));
}

const words = new DataView(new ArrayBuffer(8));

function madeOdd(sum, lost) {
  words.setFloat64(0, sum);
  const bits = words.getBigUint64(0);
  if (bits & 1n) return sum;
  words.setBigUint64(0, lost > 0 === sum > 0 ? bits + 1n : bits - 1n);
  return words.getFloat64(0);
}

const roundedTwice = (a, b, c) => f32(f32(a * b) + c);

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
  return list.split(', ').map((number) => (number === '-inf' ? -Infinity : Number(number)));
}

// The sums of the engine, as the orders tell them.
function productSum(a, b, order) {
  const multiplyAdd = order.includes('fused') ? fused : roundedTwice;
  const piece = Number(order.match(/in pieces of (\d+)/)?.[1] ?? a.length);
  let total = 0;
  for (let begin = 0; begin < a.length; begin += piece) {
    let sum = 0;
    for (let i = begin; i < Math.min(a.length, begin + piece); ++i) sum = multiplyAdd(a[i], b[i], sum);
    total = begin === 0 ? sum : f32(sum + total);
  }
  return total;
}

function laneSum(values, order) {
  let sums = new Array(Number(order.match(/(\d+) sums from 0/)[1])).fill(0);
  values.forEach((value, i) => (sums[i % sums.length] = f32(sums[i % sums.length] + value)));
  if (order.includes('one after another')) return sums.reduce((a, b) => f32(a + b), 0);
  while (sums.length > 1) {
    const half = sums.length / 2;
    const pairs = order.includes('neighbours')
      ? (j) => f32(sums[2 * j] + sums[2 * j + 1])
      : (j) => f32(sums[j] + sums[j + half]);
    sums = Array.from({ length: half }, (_, j) => pairs(j));
  }
  return sums[0];
}

function exponential(x, constants, order) {
  const fma = order.includes('rounded twice') ? roundedTwice : fused;
  if (x < constants[11]) return 0;
  const n = f32(fma(x, constants[0], constants[1]) - constants[1]);
  const rest = fma(-n, constants[3], fma(-n, constants[2], x));
  let y = constants[4];
  for (let i = 5; i <= 10; ++i) y = fma(y, rest, constants[i]);
  return f32(y * 2 ** n);
}

function layerNorm(row, order) {
  const [x, gain, bias, [epsilon]] = ['x', 'gain', 'bias', 'epsilon'].map((name) => row(name));
  const mean = f32(laneSum(x, order) / x.length);
  const apart = x.map((value) => f32(value - mean));
  const squares = laneSum(apart.map((value) => f32(value * value)), order);
  const inverse = f32(1 / f32(Math.sqrt(f32(f32(squares / x.length) + epsilon))));
  return apart.map((value, i) => f32(f32(f32(value * inverse) * gain[i]) + bias[i]));
}

const each = (values, act) => values.map((value, i) => f32(act(value, i)));

function matrixRows(step) {
  return [...step.rows].filter(([name]) => name.startsWith('W row ')).map(([, values]) => values);
}

// What each step does. Steps that only show numbers of the layers before, or compare two passes of
// the whole model, cannot be done again from the text.
const doing = {
  embedding: (row) => each(row('E'), (value) => value * row('scale')[0]),
  position: (row) => each(row('e'), (value, i) => value + row('p')[i]),
  norm: (row, step) => layerNorm(row, step.order),
  query: projection,
  key: projection,
  value: projection,
  product: (row) => each(row('q'), (value, i) => value * row('k')[i]),
  sum: (row, step) => [productSum(row('q'), row('k'), step.order)],
  scale: (row) => [f32(row('s')[0] * row('scale')[0])],
  mask: (row, step) => (step.result[0] === -Infinity ? [-Infinity] : row('s')),
  max: (row) => [Math.max(...row('scores'))],
  exp: (row, step) => [
    exponential(f32(row('s')[0] - row('M')[0]), row('constants'), step.order),
  ],
  row_sum: (row, step) => [laneSum(row('exps'), step.order)],
  weight: (row) => [f32(row('e')[0] * f32(1 / row('sum')[0]))],
  weighted_value: (row) => each(row('v'), (value) => value * row('w')[0]),
  output_share: (row, step) =>
    matrixRows(step).map((columns) => productSum(row('w v'), columns, step.order)),
};

function projection(row, step) {
  const bias = row('bias');
  return matrixRows(step).map((weights, c) =>
    f32(productSum(row('x'), weights, step.order) + bias[c]),
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
