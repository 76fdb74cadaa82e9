// What the model view shows: its part of the URL.
import { slice } from '../lib/state';

const defaults = { panel: 'heads', text: '', site: '', head: 0, cell: [] as number[] };

export type ModelState = typeof defaults;

export const modelState = slice('model', defaults);
