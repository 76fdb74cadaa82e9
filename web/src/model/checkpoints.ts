// The saved checkpoints of the run, shared by all views: what the server said last.
import { writable } from 'svelte/store';

export const checkpoints = writable<number[]>([]);
