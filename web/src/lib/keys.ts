// The keyboard. A view says which keys it knows while it is open; the help lists them.
import { writable } from 'svelte/store';

export interface Key {
  keys: string[]; // as in KeyboardEvent.key
  label: string; // how the help writes them: "← →"
  does: string;
  act: (event: KeyboardEvent) => void;
}

const groups: Key[][] = [];
export const knownKeys = writable<Key[]>([]);

// Adds the keys and returns how to take them away again: made for onMount and $effect.
export function useKeys(keys: Key[]): () => void {
  groups.push(keys);
  knownKeys.set(groups.flat());
  return () => {
    groups.splice(groups.indexOf(keys), 1);
    knownKeys.set(groups.flat());
  };
}

// Keys typed into a field belong to the field; Escape leaves it.
function isTyping(event: KeyboardEvent): boolean {
  const element = event.target as HTMLElement | null;
  if (element === null || !(element instanceof HTMLElement)) return false;
  return element.matches('input, textarea, select, [contenteditable], [role="slider"]');
}

window.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event)) {
    if (event.key === 'Escape') (event.target as HTMLElement).blur();
    return;
  }
  // The newest group knows best: an open dialog comes before the view under it.
  for (const group of [...groups].reverse()) {
    const known = group.find(({ keys }) => keys.includes(event.key));
    if (known === undefined) continue;
    event.preventDefault();
    known.act(event);
    return;
  }
});
