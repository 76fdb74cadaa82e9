// What the run view shows: its part of the URL. The checkpoint belongs to the model's views.
import { slice } from '../lib/state';

export const runState = slice('run', {
  sample: 0, // which of the held-out sentences
});
