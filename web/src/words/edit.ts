// What one does with the words: add, rename, remove, move, hide from each other.
import { wordOf } from './lexicon';
import { toTenths } from './matrix';
import { maskRows, maskText, maxWords, numRead, reach, wordsState, type Word } from './state';

const maxLetters = 40;

// The words of a text. Scripts without spaces are cut where their words end.
export function wordsIn(sentence: string): string[] {
  const parts = sentence.split(/\s+/u).filter((part) => part !== '');
  return parts.flatMap((part) => (isUnspaced(part) ? segments(part) : [part]));
}

function isUnspaced(part: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(part);
}

function segments(part: string): string[] {
  if (typeof Intl.Segmenter === 'undefined') return [...part];
  const cut = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(part);
  return [...cut].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}

// New words come at the end; the mask and the reading position stay as they were.
export function addWords(sentence: string) {
  const state = wordsState.current();
  const added = wordsIn(sentence).map((name) => wordOf(name.slice(0, maxLetters)));
  const words = [...state.words, ...added].slice(0, maxWords);
  if (words.length === state.words.length) return;
  wordsState.change({ words, chosen: Math.min(state.chosen, words.length - 1) });
}

export function renameWord(i: number, name: string) {
  const { words } = wordsState.current();
  const trimmed = name.trim().slice(0, maxLetters);
  if (trimmed === '' || words[i] === undefined || words[i][0] === trimmed) return;
  wordsState.change({ words: replaced(words, i, [trimmed, words[i][1], words[i][2]]) });
}

export function removeWord(i: number) {
  const state = wordsState.current();
  if (state.words.length < 2) return;
  const rest = <T>(list: T[]) => list.filter((_, j) => j !== i);
  const words = rest(state.words);
  const mask = state.mask === 'causal' ? 'causal' : maskText(rest(maskRows(state)).map(rest));
  const chosen = state.chosen > i ? state.chosen - 1 : state.chosen;
  const read = numRead(state) >= words.length ? 0 : state.read;
  wordsState.change({ words, mask, read, chosen: Math.min(chosen, words.length - 1) });
}

export function moveWord(i: number, x: number, y: number) {
  const { words } = wordsState.current();
  const within = (value: number) => toTenths(Math.min(Math.max(value, -reach), reach));
  const moved: Word = [words[i][0], within(x), within(y)];
  wordsState.change({ words: replaced(words, i, moved) }, `move ${i}`);
}

// Who may look at whom: one cell of the mask.
export function setSight(query: number, key: number, sees: boolean) {
  const rows = maskRows(wordsState.current());
  if (rows[query][key] === sees) return;
  rows[query][key] = sees;
  wordsState.change({ mask: maskText(rows) }, 'mask');
}

function replaced<T>(list: readonly T[], i: number, item: T): T[] {
  return list.map((old, j) => (j === i ? item : old));
}
