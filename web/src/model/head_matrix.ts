// One head's weights as they are shown: by piece or by word, with or without the special tokens.
import type { HeadTensor, Tokens, WeightsShown } from '../lib/api';
import { pieceLabel } from './piece_label';

// One row or column of the picture, and the pieces it stands for.
export interface Entry {
  label: string;
  pieces: number[];
}

export interface HeadMatrix {
  queries: Entry[];
  keys: Entry[];
  values: Float32Array; // [queries, keys]
}

// The engine puts the same tokens together when it is asked for the weights so.
export function axisOf(tokens: Tokens, { byWord, hideSpecial }: WeightsShown): Entry[] {
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

export function headMatrix(
  tensor: HeadTensor,
  head: number,
  queries: Entry[],
  keys: Entry[],
): HeadMatrix {
  const size = tensor.queries * tensor.keys;
  return { queries, keys, values: tensor.values.subarray(head * size, (head + 1) * size) };
}

export function weightAt({ keys, values }: HeadMatrix, query: number, key: number): number {
  return values[query * keys.length + key];
}

// The pair of pieces with the largest weight between two entries: the one a click opens. `tensor`
// has the weights between pieces.
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
