// One head's weights as they are shown: by piece or by word, with or without the special tokens.
import type { HeadTensor, Tokens } from '../lib/api';
import { pieceLabel } from './piece_label';

// One row or column of the picture, and the pieces it stands for.
export interface Entry {
  label: string;
  pieces: number[];
}

export interface AxisOptions {
  byWord: boolean;
  hideSpecial: boolean;
}

export interface HeadMatrix {
  queries: Entry[];
  keys: Entry[];
  values: Float64Array; // [queries, keys]
}

export function axisOf(tokens: Tokens, { byWord, hideSpecial }: AxisOptions): Entry[] {
  const entries: Entry[] = [];
  let lastWord = -1;
  tokens.pieces.forEach((piece, i) => {
    if (hideSpecial && tokens.special[i]) return;
    const word = tokens.words[i];
    if (byWord && word === lastWord && word >= 0) {
      entries[entries.length - 1].pieces.push(i);
    } else {
      const label = byWord && word >= 0 ? tokens.word_texts[word] : pieceLabel(piece);
      entries.push({ label: label || pieceLabel(piece), pieces: [i] });
    }
    lastWord = word;
  });
  return entries;
}

// A weight from word to word: what the query's pieces give to all of the key's pieces, on average.
// Without special tokens, each row is divided by what it gives to the keys that are left.
export function headMatrix(
  tensor: HeadTensor,
  head: number,
  queries: Entry[],
  keys: Entry[],
  renormalise: boolean,
): HeadMatrix {
  const values = new Float64Array(queries.length * keys.length);
  queries.forEach((query, row) => {
    for (const piece of query.pieces) {
      const start = (head * tensor.queries + piece) * tensor.keys;
      const weights = tensor.values.subarray(start, start + tensor.keys);
      const left = renormalise ? sumOver(weights, keys) : 1;
      if (left === 0) continue;
      keys.forEach((key, column) => {
        values[row * keys.length + column] +=
          sumOf(weights, key.pieces) / left / query.pieces.length;
      });
    }
  });
  return { queries, keys, values };
}

export function weightAt({ keys, values }: HeadMatrix, query: number, key: number): number {
  return values[query * keys.length + key];
}

// The pair of pieces with the largest weight between two entries: the one a click opens.
export function strongestPair(tensor: HeadTensor, head: number, query: Entry, key: Entry) {
  let best = [query.pieces[0], key.pieces[0]];
  const weight = ([i, j]: number[]) => tensor.values[(head * tensor.queries + i) * tensor.keys + j];
  for (const i of query.pieces) {
    for (const j of key.pieces) if (weight([i, j]) > weight(best)) best = [i, j];
  }
  return best;
}

export function entryOf(entries: Entry[], piece: number): number {
  return entries.findIndex(({ pieces }) => pieces.includes(piece));
}

function sumOf(weights: Float32Array, pieces: number[]): number {
  return pieces.reduce((sum, piece) => sum + weights[piece], 0);
}

function sumOver(weights: Float32Array, keys: Entry[]): number {
  return keys.reduce((sum, { pieces }) => sum + sumOf(weights, pieces), 0);
}
