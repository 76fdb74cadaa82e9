// Where one is on the guided path.
import { slice } from '../lib/state';

// `lesson` -1 is the list of all lessons. `sentence` is the user's own; empty: the words that
// the page starts with, and the model's first example.
export const lessonsState = slice('lessons', { lesson: -1, page: 0, sentence: '' });
