// The way of each word while the sentence is read: where its context was after each new word.
import { api } from '../lib/api';
import type { Point } from './plane';
import { numRead, requestOf, type WordsState } from './state';

export type Trails = Point[][]; // one for each word, from when it was read until now

export async function trailsOf(state: WordsState): Promise<Trails> {
  const counts = Array.from({ length: numRead(state) }, (_, i) => i + 1);
  const answers = await Promise.all(counts.map((read) => api.words(requestOf({ ...state, read }))));
  return counts.map((_, word) =>
    answers.slice(word).map(({ outputs }) => outputs[word] as unknown as Point),
  );
}
