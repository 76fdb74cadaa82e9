// The guided path: which view each page opens, in which state, and what it points at. The sentences
// are in text.ts, in the same order.
import { modelState, type ModelState } from '../model/state';
import type { About, Site } from '../lib/api';
import { wordsIn } from '../words/edit';
import { wordOf } from '../words/lexicon';
import { maxWords, meanOfHeads, plainHead, wordsDefaults, wordsState } from '../words/state';
import type { HeadSettings, Word, WordsState } from '../words/state';
import { lessonsState } from './state';
import { lessonsText, type LessonName } from './text';

export interface PathPage {
  view: 'words' | 'model' | 'run';
  formulas?: string[]; // TeX, a line each
  marks: string[];
  words?: (words: Word[]) => Partial<WordsState>; // what differs from the start of the page
  model?: (sites: Site[]) => Partial<ModelState>;
}

const rotated: HeadSettings = { ...plainHead, query: [0, 1, -1, 0] };
const sheared: HeadSettings = { ...plainHead, value: [1, 0, 0.8, 1] };

// The first step of the softmax: after one query, all keys and all similarities.
const firstOfSoftmax = (words: Word[]) => 1 + 2 * words.length;

// The arithmetic of one weight in the first layer.
const firstCell = (sites: Site[]): Partial<ModelState> => ({
  panel: 'heads',
  site: sites[0]?.name ?? '',
  head: 0,
  cell: [1, 0],
});

const allHeads: Partial<ModelState> = { panel: 'heads', site: '', cell: [] };

export const path: Record<LessonName, PathPage[]> = {
  similarity: [
    {
      view: 'words',
      formulas: ['q \\cdot k = \\sum_{c=1}^{d} q_c\\, k_c'],
      marks: ['words.similarity'],
      words: () => ({ similarity: 'dot' }),
    },
    {
      view: 'words',
      formulas: ['\\cos(q, k) = \\frac{q \\cdot k}{\\lVert q \\rVert\\, \\lVert k \\rVert}'],
      marks: ['words.similarity', 'words.choose'],
      words: () => ({ similarity: 'cosine' }),
    },
    {
      view: 'words',
      formulas: ['s = \\frac{q \\cdot k}{\\sqrt{d}}'],
      marks: ['words.similarity', 'words.choose'],
      words: () => ({ similarity: 'scaled-dot' }),
    },
  ],
  softmax: [
    {
      view: 'words',
      formulas: ['w_{ij} = \\frac{\\exp(s_{ij})}{\\sum_{l} \\exp(s_{il})}'],
      marks: ['words.weights'],
      words: () => ({ similarity: 'cosine' }),
    },
    {
      view: 'words',
      formulas: [
        'w_{ij} = \\frac{\\exp(s_{ij} - m_i)}{\\sum_{l} \\exp(s_{il} - m_i)}',
        'm_i = \\max_l s_{il}',
      ],
      marks: ['words.steps'],
      words: (words) => ({ similarity: 'cosine', step: firstOfSoftmax(words) }),
    },
    {
      view: 'words',
      marks: ['words.weights', 'words.choose'],
      words: () => ({ similarity: 'scaled-dot' }),
    },
  ],
  attention: [
    {
      view: 'words',
      formulas: ['C = \\operatorname{softmax}(S)\\, X', 'S = \\frac{X X^{\\top}}{\\sqrt{d}}'],
      marks: ['words.plane', 'words.pulls'],
      words: () => ({ similarity: 'cosine', moved: true }),
    },
    {
      view: 'words',
      marks: ['words.sentence', 'words.plane'],
      words: () => ({ similarity: 'cosine', moved: true, read: 2 }),
    },
  ],
  projections: [
    {
      view: 'words',
      formulas: ['s_{ij} = \\frac{(x_i W_Q) \\cdot (x_j W_K)}{\\sqrt{d}}'],
      marks: ['words.matrices', 'words.plane'],
      words: () => ({ similarity: 'scaled-dot', heads: [rotated], space: 'query' }),
    },
    {
      view: 'words',
      marks: ['words.similarity'],
      words: () => ({ similarity: 'scaled-dot', heads: [rotated] }),
    },
    {
      view: 'words',
      formulas: ['y_i = \\sum_j w_{ij}\\, (x_j W_V)'],
      marks: ['words.matrices', 'words.pulls'],
      words: () => ({
        similarity: 'scaled-dot',
        heads: [sheared],
        space: 'value',
        projection: 'value',
      }),
    },
  ],
  heads: [
    {
      view: 'words',
      formulas: [
        'C^{(h)} = \\operatorname{softmax}\\!\\left(\\frac{Q^{(h)} K^{(h)\\top}}{\\sqrt{d_h}}\\right) V^{(h)}',
      ],
      marks: ['words.count', 'words.weights'],
      words: () => ({ similarity: 'scaled-dot', heads: [plainHead, rotated] }),
    },
    {
      view: 'words',
      formulas: ['Y = [\\,C^{(1)} \\;\\; C^{(2)}\\,]\\, W_O'],
      marks: ['words.heads'],
      words: () => ({
        similarity: 'scaled-dot',
        heads: [plainHead, rotated],
        output: meanOfHeads,
      }),
    },
  ],
  masks: [
    {
      view: 'words',
      formulas: ['C = \\operatorname{softmax}(S + M)\\, V', 'M_{ij} \\in \\{0, -\\infty\\}'],
      marks: ['words.mask', 'words.weights'],
      words: (words) => ({
        similarity: 'cosine',
        mask: 'causal',
        chosen: Math.min(1, words.length - 1),
      }),
    },
    {
      view: 'words',
      marks: ['words.mask', 'words.sentence'],
      words: () => ({ similarity: 'cosine', mask: 'causal', moved: true, read: 1 }),
    },
  ],
  positions: [
    {
      view: 'words',
      formulas: ['\\operatorname{Attention}(P X) = P \\operatorname{Attention}(X)'],
      marks: ['words.plane', 'words.sentence'],
      words: (words) => ({
        similarity: 'cosine',
        words: [...words].reverse(),
        chosen: words.length - 1,
        moved: true,
      }),
    },
    {
      view: 'model',
      formulas: [
        'p_{t,2c} = \\sin\\!\\left(t / 10000^{2c/D}\\right)',
        'p_{t,2c+1} = \\cos\\!\\left(t / 10000^{2c/D}\\right)',
      ],
      marks: ['model.cell'],
      model: firstCell,
    },
  ],
  norm: [
    {
      view: 'model',
      formulas: [
        '\\operatorname{norm}(x) = \\frac{x - \\mu}{\\sqrt{\\sigma^2 + \\varepsilon}} \\odot \\gamma + \\beta',
      ],
      marks: ['model.cell'],
      model: firstCell,
    },
    {
      view: 'model',
      formulas: [
        '\\mu = \\frac{1}{D} \\sum_{c=1}^{D} x_c',
        '\\sigma^2 = \\frac{1}{D} \\sum_{c=1}^{D} (x_c - \\mu)^2',
      ],
      marks: ['model.cell'],
      model: firstCell,
    },
  ],
  feedForward: [
    {
      view: 'model',
      formulas: ['f(x) = \\phi(x W_1 + b_1)\\, W_2 + b_2'],
      marks: ['model.paths'],
      model: () => ({ panel: 'paths' }),
    },
  ],
  encoder: [
    {
      view: 'model',
      formulas: [
        'a = \\operatorname{norm}(x + \\operatorname{attention}(x))',
        'y = \\operatorname{norm}(a + f(a))',
      ],
      marks: ['model.overview'],
      model: () => allHeads,
    },
    { view: 'model', marks: ['model.paths'], model: () => ({ panel: 'paths' }) },
  ],
  decoder: [
    {
      view: 'model',
      formulas: ['Q = Y W_Q', 'K = E W_K', 'V = E W_V'],
      marks: ['model.overview'],
      model: () => allHeads,
    },
    {
      view: 'model',
      formulas: ['p(y_t \\mid y_{<t}, x) = \\operatorname{softmax}(h_t W^{\\top})'],
      marks: ['model.decoding'],
      model: () => ({ panel: 'decoding' }),
    },
  ],
  training: [
    {
      view: 'run',
      formulas: ['L = -\\sum_t \\log p(y_t \\mid y_{<t}, x)'],
      marks: ['run.curves'],
    },
    { view: 'model', marks: ['model.checkpoint', 'model.overview'], model: () => allHeads },
  ],
};

export const lessonNames = Object.keys(lessonsText.lessons) as LessonName[];

// The words of the user's own sentence, or those that the page starts with.
export function wordsOf(sentence: string): Word[] {
  const names = wordsIn(sentence).slice(0, maxWords);
  return names.length === 0 ? wordsDefaults.words : names.map(wordOf);
}

// Opens a page of the path: one step of the history, all views set as the page wants them.
export function open(about: About, lesson: number, page: number, sentence?: string) {
  const own = sentence ?? lessonsState.current().sentence;
  lessonsState.change({ lesson, page, sentence: own });
  if (lesson < 0) return;
  const stop = path[lessonNames[lesson]][page];
  const words = wordsOf(own);
  if (stop.view === 'words') {
    wordsState.change({ ...wordsDefaults, words, ...stop.words?.(words) });
  } else {
    modelState.change({ text: own, ...stop.model?.(about.model?.sites ?? []) });
  }
}
