// Step mode: the whole way of one word to its context, one calculation at a time. Every number is
// one that the engine sent.
import type { Similarity, WordsAnswer, WordsHead } from '../lib/api';
import { exact } from '../lib/format';
import { text } from '../lib/text';
import { numRead, type Projection, type WordsState } from './state';

export const phases = [
  'query',
  'key',
  'similarity',
  'mask',
  'max',
  'exp',
  'sum',
  'weight',
  'value',
  'pull',
  'context',
  'concatenate',
  'output',
] as const;
export type Phase = (typeof phases)[number];

export interface Step {
  phase: Phase;
  key: number | null; // the word that the chosen word looks at in this step
  formula: string; // TeX, fixed
  calculation: string;
  result: string;
}

const similarityFormulas: Record<Similarity, string> = {
  dot: 's_{ij} = q_i \\cdot k_j',
  cosine: 's_{ij} = \\frac{q_i \\cdot k_j}{\\lVert q_i \\rVert \\, \\lVert k_j \\rVert}',
  'scaled-dot': 's_{ij} = \\frac{q_i \\cdot k_j}{\\sqrt{d}},\\quad d = 2',
};

export const formulas = {
  softmax: 'w_{ij} = \\frac{\\exp(s_{ij})}{\\sum_l \\exp(s_{il})}',
  masked: 's_{ij} + M_{ij},\\quad M_{ij} \\in \\{0, -\\infty\\}',
  query: 'q_i = x_i W_Q',
  key: 'k_j = x_j W_K',
  mask: 's_{ij} \\leftarrow -\\infty \\;\\text{ where } i \\text{ may not look at } j',
  max: 'm_i = \\max_j s_{ij}',
  exp: 'e_{ij} = \\exp(s_{ij} - m_i)',
  sum: 'Z_i = \\sum_j e_{ij}',
  weight: 'w_{ij} = \\frac{e_{ij}}{Z_i}',
  value: 'v_j = x_j W_V',
  pull: 'p_{ij} = w_{ij}\\, v_j',
  context: 'c_i = \\sum_j w_{ij}\\, v_j',
  concatenate: '[\\,c_i^{(1)} \\;\\; c_i^{(2)}\\,]',
  output: 'y_i = [\\,c_i^{(1)} \\;\\; c_i^{(2)}\\,]\\, W_O',
};

export function similarityFormula(similarity: Similarity): string {
  return similarityFormulas[similarity];
}

const pair = (values: readonly (number | null)[]) => `(${values.map(exact).join(', ')})`;

// A negative number that follows a sign stands in brackets.
const signed = (value: number | null) => {
  const written = exact(value);
  return value === null || value < 0 ? `(${written})` : written;
};

export function stepsOf(state: WordsState, answer: WordsAnswer): Step[] {
  const i = state.chosen;
  const head = answer.heads[state.head];
  const keys = Array.from({ length: numRead(state) }, (_, j) => j);
  const steps = [
    project(state, 'query', i, null, head.queries[i]),
    ...keys.map((j) => project(state, 'key', j, j, head.keys[j])),
    ...keys.map((j) => similarity(state, head, i, j)),
    ...(state.mask === '' ? [] : keys.map((j) => mask(head, i, j))),
    ...softmax(head, i, keys),
    ...keys.map((j) => project(state, 'value', j, j, head.values[j])),
    ...keys.map((j) => pull(head, i, j)),
    context(head, i, keys),
  ];
  return state.heads.length > 1 ? [...steps, ...together(state, answer, i)] : steps;
}

function project(
  state: WordsState,
  phase: Projection,
  word: number,
  key: number | null,
  result: number[],
): Step {
  const [, x, y] = state.words[word];
  const [a, b, c, d] = state.heads[state.head][phase].map(exact);
  const calculation = `${pair([x, y])} · [${a} ${b}; ${c} ${d}]`;
  return { phase, key, formula: formulas[phase], calculation, result: pair(result) };
}

function similarity(state: WordsState, head: WordsHead, i: number, j: number): Step {
  const products = head.products[i][j];
  const sum = products
    .map((product, d) => (d === 0 ? exact(product) : signed(product)))
    .join(' + ');
  return {
    phase: 'similarity',
    key: j,
    formula: similarityFormulas[state.similarity],
    calculation: state.similarity === 'scaled-dot' ? `(${sum}) × ${exact(head.scale)}` : sum,
    result: exact(head.similarities[i][j]),
  };
}

function mask(head: WordsHead, i: number, j: number): Step {
  const isHidden = head.masked[i][j] === null;
  return {
    phase: 'mask',
    key: j,
    formula: formulas.mask,
    calculation: `${exact(head.similarities[i][j])} + ${isHidden ? signed(null) : '0'}`,
    result: exact(head.masked[i][j]),
  };
}

// A row in which everything is hidden has no maximum: its weights are zeros.
function softmax(head: WordsHead, i: number, keys: number[]): Step[] {
  const max = head.row_max[i];
  const maximum = `max(${head.masked[i].map(exact).join(', ')})`;
  const sum = head.exps[i].map(exact).join(' + ');
  // The engine divides once for the whole row.
  const weight = (j: number) => `${exact(head.exps[i][j])} × (1 / ${exact(head.row_sums[i])})`;
  if (max === null) {
    const step = { formula: formulas.weight, calculation: text.words.steps.allHidden, result: '0' };
    return keys.map((key) => ({ phase: 'weight', key, ...step }));
  }
  return [
    { phase: 'max', key: null, formula: formulas.max, calculation: maximum, result: exact(max) },
    ...keys.map((j): Step => {
      const calculation = `exp(${exact(head.masked[i][j])} − ${signed(max)})`;
      const result = exact(head.exps[i][j]);
      return { phase: 'exp', key: j, formula: formulas.exp, calculation, result };
    }),
    {
      phase: 'sum',
      key: null,
      formula: formulas.sum,
      calculation: sum,
      result: exact(head.row_sums[i]),
    },
    ...keys.map((j): Step => {
      const result = exact(head.weights[i][j]);
      return { phase: 'weight', key: j, formula: formulas.weight, calculation: weight(j), result };
    }),
  ];
}

function pull(head: WordsHead, i: number, j: number): Step {
  return {
    phase: 'pull',
    key: j,
    formula: formulas.pull,
    calculation: `${exact(head.weights[i][j])} × ${pair(head.values[j])}`,
    result: pair(head.pulls[i][j]),
  };
}

function context(head: WordsHead, i: number, keys: number[]): Step {
  return {
    phase: 'context',
    key: null,
    formula: formulas.context,
    calculation: keys.map((j) => pair(head.pulls[i][j])).join(' + '),
    result: pair(head.contexts[i]),
  };
}

function together(state: WordsState, answer: WordsAnswer, i: number): Step[] {
  const joined = pair(answer.concatenated[i]);
  const rows = [0, 2, 4, 6].map((k) =>
    state.output
      .slice(k, k + 2)
      .map(exact)
      .join(' '),
  );
  return [
    {
      phase: 'concatenate',
      key: null,
      formula: formulas.concatenate,
      calculation: answer.heads.map((head) => pair(head.contexts[i])).join('  '),
      result: joined,
    },
    {
      phase: 'output',
      key: null,
      formula: formulas.output,
      calculation: `${joined} · [${rows.join('; ')}]`,
      result: pair(answer.outputs[i]),
    },
  ];
}
