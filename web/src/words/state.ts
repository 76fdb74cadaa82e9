// The state of the plane of words, and what is asked of the engine for it.
import type { HeadMatrices, Matrix, Similarity, WordsRequest } from '../lib/api';
import { slice } from '../lib/state';
import { identity, type Flat } from './matrix';

export type Word = [name: string, x: number, y: number];
export type Projection = 'query' | 'key' | 'value';
export type Space = 'words' | Projection;
export type HeadSettings = Record<Projection, Flat>;

export const projections: readonly Projection[] = ['query', 'key', 'value'];
export const similarities: readonly Similarity[] = ['dot', 'cosine', 'scaled-dot'];
export const maxWords = 24;
export const reach = 10; // words stay within -reach to reach

export const plainHead: HeadSettings = { query: identity, key: identity, value: identity };

// The mean of two heads: [x1 y1 x2 y2] times this 4 x 2 matrix, row after row.
export const meanOfHeads: readonly number[] = [0.5, 0, 0, 0.5, 0.5, 0, 0, 0.5];

export interface WordsState {
  words: Word[];
  similarity: Similarity;
  heads: HeadSettings[]; // one or two
  output: readonly number[]; // 4 x 2, of two heads
  mask: string; // '' for none, 'causal', or rows of 0 and 1: "110/111/011"
  read: number; // so many words of the sentence have been read; 0 is all
  chosen: number; // the word whose row is shown
  head: number; // the head that is shown
  space: Space; // what the plane shows
  projection: Projection; // whose matrix is edited
  moved: boolean; // words stand at their contexts
  step: number; // of the step mode; -1 is off
  digits: 'few' | 'all';
}

export const wordsDefaults: WordsState = {
  words: [
    ['bat', 3, 3],
    ['cave', 4, 0],
    ['racket', 0, 5],
  ],
  similarity: 'cosine',
  heads: [plainHead],
  output: meanOfHeads,
  mask: '',
  read: 0,
  chosen: 0,
  head: 0,
  space: 'words',
  projection: 'query',
  moved: false,
  step: -1,
  digits: 'few',
};

export const wordsState = slice('words', wordsDefaults, { isValid });

// A URL that was edited by hand must still give a state that the view can draw.
function isValid(field: keyof WordsState, value: unknown): boolean {
  switch (field) {
    case 'words':
      return areWords(value);
    case 'similarity':
      return similarities.includes(value as Similarity);
    case 'heads':
      return areHeads(value);
    case 'output':
      return areNumbers(value, meanOfHeads.length);
    case 'mask':
      return /^(causal|[01/]*)$/.test(value as string);
    case 'space':
      return value === 'words' || projections.includes(value as Projection);
    case 'projection':
      return projections.includes(value as Projection);
    case 'digits':
      return value === 'few' || value === 'all';
    case 'step':
      return Number.isInteger(value);
    case 'moved':
      return true;
    default:
      return Number.isInteger(value) && (value as number) >= 0;
  }
}

function areNumbers(value: unknown, count: number): boolean {
  return Array.isArray(value) && value.length === count && value.every(Number.isFinite);
}

function areWords(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= maxWords &&
    value.every((word) => typeof word?.[0] === 'string' && areNumbers(word.slice?.(1), 2))
  );
}

function areHeads(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    (value.length === 1 || value.length === 2) &&
    value.every((head) => projections.every((name) => areNumbers(head?.[name], 4)))
  );
}

// How many words of the sentence are in the context.
export function numRead({ words, read }: WordsState): number {
  return read === 0 ? words.length : Math.min(read, words.length);
}

// One row for each word of the whole sentence; true: may look.
export function maskRows({ mask, words }: WordsState): boolean[][] {
  const rows = mask.split('/');
  return words.map((_, i) =>
    words.map((_, j) => (mask === 'causal' ? j <= i : mask === '' || rows[i]?.[j] !== '0')),
  );
}

export function maskText(rows: boolean[][]): string {
  if (rows.every((row) => row.every(Boolean))) return '';
  if (rows.every((row, i) => row.every((sees, j) => sees === j <= i))) return 'causal';
  return rows.map((row) => row.map((sees) => (sees ? '1' : '0')).join('')).join('/');
}

function rowsOf(flat: readonly number[]): Matrix {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
}

function matricesOf(head: HeadSettings): HeadMatrices {
  return { query: rowsOf(head.query), key: rowsOf(head.key), value: rowsOf(head.value) };
}

// What the engine is asked: attention over the words that have been read.
export function requestOf(state: WordsState): WordsRequest {
  const count = numRead(state);
  const mask = maskRows(state)
    .slice(0, count)
    .map((row) => row.slice(0, count));
  return {
    words: state.words.slice(0, count).map(([name, x, y]) => ({ name, vector: [x, y] })),
    similarity: state.similarity,
    heads: state.heads.map(matricesOf),
    output: state.heads.length > 1 ? rowsOf(state.output) : null,
    mask: state.mask === '' ? null : mask,
  };
}
