// The strings of the arithmetic of one weight: a part of the table in lib/text.ts. A step arrives as
// facts (CellStep); this says what it computes and in which order, so that it can be done again.
import type { Arithmetic, Cell, CellStep } from '../lib/api';

export interface StepText {
  title: string;
  formula: string; // TeX
  note: string;
  order: string; // how to compute it so that the bits are the engine's
}

type Describe = (step: CellStep, cell: Cell, head: number) => StepText;

// s = sum of a_i b_i, as matrix products compute it.
function productSum(count: number, { is_fused, chain }: Arithmetic): string {
  const step = is_fused
    ? 's = fma(a_i, b_i, s): a fused multiply-add, rounded once'
    : 's = a_i * b_i + s: rounded after the product and after the sum';
  return count <= chain
    ? `s = 0; for i = 0 ... ${count - 1}: ${step}`
    : `in chains of ${chain}: from s = 0, for each i of the chain: ${step}; then the sums of the chains are added one after another`;
}

// The sum of a row, as norms and the softmax compute it.
function laneSum({ lanes, lane_order }: Arithmetic): string {
  const sums = `${lanes} sums from 0, one for each lane of a vector: sum j adds elements j, j + ${lanes}, j + 2 * ${lanes} ... in turn; `;
  const ends = {
    halves: `then, until one is left, the second half of the sums is added to the first: s_j + s_(j + ${lanes / 2})`,
    neighbours: 'then, until one is left, neighbours are added: s_2j + s_(2j + 1)',
    'in turn': 'then the sums are added one after another, from 0',
    unknown: 'then the sums are added as this processor’s vectors do it',
  };
  return sums + ends[lane_order];
}

function exponential({ is_fused }: Arithmetic): string {
  return (
    'with the constants c_0 ... c_11: t = fma(x, c_0, c_1); n = t - c_1; r = fma(-n, c_2, x); ' +
    'r = fma(-n, c_3, r); y = c_4; for i = 5 ... 10: y = fma(y, r, c_i); the result is y * 2^n, ' +
    `and 0 where x < c_11${is_fused ? '' : ' (here fma is rounded twice)'}`
  );
}

const lengthOf = ({ rows }: CellStep, name: string) =>
  rows.find((row) => row.name === name)?.values.length ?? 0;
const hasRow = ({ rows }: CellStep, name: string) => rows.some((row) => row.name === name);
const tokenOf = ({ side }: CellStep, cell: Cell) => (side === 'query' ? cell.query : cell.key);

const projection: Describe = (step, cell, head) => {
  const letter = step.id[0];
  const width = lengthOf(step, 'x');
  const hasBias = hasRow(step, 'bias');
  return {
    title: `The ${step.id}, head ${head}`,
    formula: `${letter} = W_${letter}\\,x${hasBias ? ` + b_${letter}` : ''}`,
    note: `W has a row of ${width} numbers for each of the head’s ${cell.head_dim} numbers.`,
    order:
      `each ${letter}_c: a = x, b = row c of W: ${productSum(width, cell.arithmetic)}; ` +
      `then ${letter}_c = s${hasBias ? ' + bias_c' : ''}`,
  };
};

const addedPosition: Describe = (step, cell) => ({
  title: `Plus the row of position ${tokenOf(step, cell).position}`,
  formula: 'x = e + p',
  note:
    step.variant === 'learned'
      ? 'Positions are learned: a row of their own table.'
      : 'Sines and cosines of the position times one frequency for each pair, computed in double precision.',
  order: 'element by element: x_i = e_i + p_i',
});

const rotaryPosition: Describe = (step, cell) => {
  const letter = step.rows[0].name;
  const half = lengthOf(step, 'cos');
  const isPartial = 2 * half < lengthOf(step, letter);
  return {
    title: `Rotated by position ${tokenOf(step, cell).position}`,
    formula: '(a, b) \\mapsto (a \\cos - b \\sin,\\; a \\sin + b \\cos)',
    note:
      'Rotary positions (RoPE) rotate pairs of numbers by angles that grow with the position.' +
      (isPartial ? ` Only the first ${2 * half} numbers are rotated; the others stay.` : ''),
    order: `a = ${letter}_i, b = ${letter}_(i + ${half}), i < ${half}; each product is rounded, then their sum`,
  };
};

const layerNorm: Describe = (step, { arithmetic }) => {
  const hasBias = hasRow(step, 'bias');
  return {
    title: 'Layer norm',
    formula: `\\hat x = \\frac{x - \\mu}{\\sqrt{\\sigma^2 + \\epsilon}} \\odot g${hasBias ? ' + b' : ''}`,
    note: `Mean 0 and variance 1, then the learned gain${hasBias ? ' and bias' : ''}.`,
    order:
      'mean = (sum of x_i) / D; squares = sum of (x_i - mean) * (x_i - mean); inverse = 1 / ' +
      `sqrt(squares / D + epsilon); ((x_i - mean) * inverse) * gain_i${hasBias ? ' + bias_i' : ''}. ` +
      `Sums: ${laneSum(arithmetic)}`,
  };
};

const rmsNorm: Describe = (_, { arithmetic }) => ({
  title: 'RMS norm',
  formula: '\\hat x = \\frac{x}{\\sqrt{\\overline{x^2} + \\epsilon}} \\odot g',
  note: 'Mean square 1, then the learned gain.',
  order:
    'squares = sum of x_i * x_i; inverse = 1 / sqrt(squares / D + epsilon); ' +
    `(x_i * inverse) * gain_i. Sums: ${laneSum(arithmetic)}`,
});

const anyNorm: Describe = (step, cell, head) =>
  (step.variant === 'layer' ? layerNorm : rmsNorm)(step, cell, head);

const maskNotes: Record<string, string> = {
  visible: 'The query may see this key.',
  causal: 'The key comes after the query, which must not see it: minus infinity.',
  window: 'The key is too far away for this layer’s window: minus infinity.',
  knockout: 'This link is blocked: minus infinity.',
};

const steps: Record<string, Describe> = {
  embedding: (step, cell) => ({
    title: `The row of the embedding for “${tokenOf(step, cell).piece}”`,
    formula: 'e = \\mathrm{scale}\\,E_t',
    note: `Token ${tokenOf(step, cell).id} of the vocabulary; a row has ${lengthOf(step, 'E')} numbers.`,
    order: 'element by element: e_i = E_i * scale',
  }),
  position: (step, cell, head) =>
    (step.variant === 'rotary' ? rotaryPosition : addedPosition)(step, cell, head),
  block_input: ({ variant }) => {
    const isFirst = variant.endsWith('.embedded');
    return {
      title: `The input of this layer: ${variant}`,
      formula: 'x',
      note: isFirst
        ? 'The first layer: nothing has happened to the embedding yet.'
        : 'What the layers before have made of the embedding.',
      order: isFirst ? 'the numbers above' : 'the result of the layers before',
    };
  },
  norm: anyNorm,
  embedding_norm: (step, cell, head) => ({
    ...anyNorm(step, cell, head),
    title: 'The norm of the embeddings',
  }),
  head_norm: (step, cell, head) => ({
    ...anyNorm(step, cell, head),
    title: `The norm of the ${step.side}, for each head`,
  }),
  token_type: () => ({
    title: 'Plus the vector of its part of the text',
    formula: 'x = e + t',
    note: 'The first text and the second one have a learned vector each.',
    order: 'element by element: x_i = e_i + t_i',
  }),
  embedding_projection: (step, { arithmetic }) => {
    const width = lengthOf(step, 'x');
    const hasBias = hasRow(step, 'bias');
    return {
      title: 'Brought to the width of the model',
      formula: `W\\,x${hasBias ? ' + b' : ''}`,
      note: `The embeddings are narrower: ${width} numbers.`,
      order:
        `each c: a = x, b = row c of W: ${productSum(width, arithmetic)}` +
        (hasBias ? '; then s + bias_c' : ''),
    };
  },
  query: projection,
  key: projection,
  value: projection,
  unit: ({ side }, { arithmetic }) => ({
    title: `The ${side} with length 1`,
    formula: '\\hat v = v / |v|',
    note: 'Cosine compares directions: lengths do not count.',
    order: `squares = sum of v_i * v_i; inverse = 1 / sqrt(squares); v_i * inverse. Sum: ${laneSum(arithmetic)}`,
  }),
  product: () => ({
    title: 'Query times key, number by number',
    formula: 'q_i\\,k_i',
    note: 'Each product rounded by itself, to look at. The sum below does not use these.',
    order: 'q_i * k_i',
  }),
  sum: (_, { head_dim, arithmetic }) => ({
    title: 'Their sum: how alike the two are',
    formula: 's = \\sum_i q_i\\,k_i',
    note: '',
    order: `a = q, b = k: ${productSum(head_dim, arithmetic)}`,
  }),
  scale: ({ variant }, { head_dim }) => {
    const isScaled = variant === 'scaled-dot';
    return {
      title: 'Scaled',
      formula: isScaled ? 's / \\sqrt{K}' : 's \\cdot \\mathrm{scale}',
      note: isScaled
        ? `K = ${head_dim} is the width of one head.`
        : variant === 'given'
          ? 'The scale is the model’s own.'
          : '',
      order: 's * scale',
    };
  },
  softcap: (_, { arithmetic }) => ({
    title: 'The soft cap',
    formula: 'c \\tanh(s / c)',
    note: 'No score leaves the range from -c to c; tanh x = 1 - 2 / (e^2x + 1).',
    order:
      'x = s * (1 / cap) * 2; with the constants c_0 ... c_12: n = x * c_0 to the nearest whole number; ' +
      'r = fma(-n, c_2, x); r = fma(-n, c_3, r); y = c_4; for i = 5 ... 10: y = fma(y, r, c_i); ' +
      'e = y * 2^n (0 where x < c_11, infinite where x > c_12); tanh = 1 - 2 / (e + 1); cap * tanh' +
      (arithmetic.is_fused ? '' : ' (here fma is rounded twice)'),
  }),
  mask: (step) => {
    const isAlibi = hasRow(step, 'slope');
    const hasBias = hasRow(step, 'bias');
    const biasNote = 'The bias is learned for the distance of key and query, by buckets. ';
    return {
      title: hasBias ? 'The bias of the distance, and the mask' : 'The mask',
      formula: isAlibi ? 's - \\mathrm{slope} \\cdot |i - j|' : hasBias ? 's + b_{j - i} + m' : 's + m',
      note: (hasBias ? biasNote : '') + (maskNotes[step.variant] ?? ''),
      order: isAlibi
        ? 's - slope * distance: the product is rounded, then the difference'
        : hasBias
          ? 's + bias unless masked'
          : 's unless masked',
    };
  },
  max: () => ({
    title: 'The largest score of the query’s row',
    formula: 'M = \\max_j s_j',
    note: 'Subtracted first, so that no exponential can overflow.',
    order: 'the largest',
  }),
  exp: (_, { arithmetic }) => ({
    title: 'The exponential',
    formula: 'e^{s - M}',
    note: 'A power of two, times a polynomial for the rest.',
    order: `x = s - M; ${exponential(arithmetic)}`,
  }),
  row_sum: (step, { arithmetic }) => ({
    title: 'The sum of the row',
    formula: '\\sum_j e^{s_j - M}',
    note: 'Every key’s exponential, as above; masked keys give 0.',
    order: hasRow(step, 'exps')
      ? laneSum(arithmetic)
      : `online softmax: keys come in blocks of ${arithmetic.key_block}, each with the running maximum M. ` +
        'If M has grown, the running sum is multiplied by rescale = expf(M before - M); then the ' +
        `block’s sum of e^(s_j - M) is added. A block’s sum: ${laneSum(arithmetic)}`,
  }),
  weight: (step) =>
    hasRow(step, 'e')
      ? {
          title: 'The weight',
          formula: 'w = \\frac{e^{s - M}}{\\sum_j e^{s_j - M}}',
          note: 'The weights of a row sum to 1.',
          order: 'inverse = 1 / sum, rounded; e * inverse',
        }
      : {
          title: 'The weight',
          formula: '0',
          note: 'This query may see nothing: all its weights are 0.',
          order: '0',
        },
  weighted_value: () => ({
    title: 'The weight times the value',
    formula: 'w\\,v',
    note:
      'This key’s share of the head’s output for the query. The engine adds e^(s_j - M) v_j over all ' +
      'keys and multiplies the sum by 1 / row sum: the shares together differ from the output by roundings.',
    order: 'w * v_i',
  }),
  output_share: (_, { head_dim, arithmetic }) => ({
    title: 'Its share of the layer’s output',
    formula: 'W_o\\,(w\\,v)',
    note: 'The head’s columns of the output matrix bring it to the width of the model.',
    order: `each o: a = w v, b = the head’s columns of row o of W: ${productSum(head_dim, arithmetic)}`,
  }),
  logit_share: ({ rows }) => ({
    title: 'How far it moved the answer',
    formula: 'z_{\\text{with}} - z_{\\text{without}}',
    note:
      rows.length === 1
        ? 'The logit of the prediction (of an encoder: the number of its vector that moved most) in two passes of the whole model: as it is, and with this one share taken out of the head’s output.'
        : 'Two passes of the whole model: as it is, and with this one share taken out of the head’s output. The result is that of the prediction that moved most.',
    order: 'with - without',
  }),
};

export function stepText(step: CellStep, cell: Cell, head: number): StepText {
  return steps[step.id](step, cell, head);
}
