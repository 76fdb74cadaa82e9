// The whole state of the page lives in the URL fragment, so that a link brings back what one saw and
// the browser's back and forward walk through it.
//
// Every view keeps its part in a slice: a store of a flat record with defaults. The fragment names
// what differs from the defaults: #view=words&words.similarity=cosine . Text is written as it is,
// everything else as JSON.
import { writable, type Readable } from 'svelte/store';

type Fields = Record<string, unknown>;

export interface Slice<T> extends Readable<T> {
  // Changes some fields. Changes with the same gesture in a row (a word being dragged) are one step
  // of the history; without a gesture each is a step of its own.
  change(fields: Partial<T>, gesture?: string): void;
  reset(): void;
  current(): T;
}

interface Entry {
  prefix: string;
  defaults: Fields;
  read(fields: Map<string, string>): void;
  current(): Fields;
}

const entries: Entry[] = [];
const writeDelay = 120; // ms; browsers stop pages that change the URL at each frame

let needsStep = false; // the next address that is written is a step of the history
let isAboutToPush = false;
let unwritten: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastGesture: string | undefined;

// How the fields of a slice are read from the URL.
export interface Reading<T> {
  // May refuse a URL that was edited by hand: the default takes its place.
  isValid?: (field: keyof T, value: unknown) => boolean;
  // Bookmarks of an older page: the names that fields had, and today's form of a value; undefined for
  // one that has none.
  oldNames?: Partial<Record<keyof T, string>>;
  upgrade?: (field: keyof T, value: unknown) => unknown;
}

// `name` is the prefix in the fragment, '' for the page itself.
export function slice<T extends object>(
  name: string,
  defaults: T,
  { isValid = () => true, oldNames = {}, upgrade = (_, value) => value }: Reading<T> = {},
): Slice<T> {
  const prefix = name === '' ? '' : `${name}.`;
  let value = { ...defaults };
  const store = writable(value);
  const set = (next: T) => {
    value = next;
    store.set(next);
  };
  const read = (fields: Map<string, string>) => {
    const next = { ...defaults };
    for (const field of Object.keys(defaults) as (keyof T & string)[]) {
      const text = fields.get(prefix + field) ?? fields.get(prefix + (oldNames[field] ?? field));
      const parsed = text === undefined ? undefined : parse(text, defaults[field]);
      const value = parsed === undefined ? undefined : upgrade(field, parsed);
      if (value !== undefined && isValid(field, value)) next[field] = value as T[typeof field];
    }
    if (JSON.stringify(next) !== JSON.stringify(value)) set(next);
  };
  entries.push({ prefix, defaults: defaults as Fields, read, current: () => value as Fields });
  read(fieldsOf(location.hash));

  return {
    subscribe: store.subscribe,
    current: () => value,
    change(fields, gesture) {
      set({ ...value, ...fields });
      write(gesture);
    },
    reset() {
      set({ ...defaults });
      write();
    },
  };
}

// The fragment of the state as it is now.
export function fragment(): string {
  const parts: string[] = [];
  for (const { prefix, defaults, current } of entries) {
    for (const [field, value] of Object.entries(current())) {
      const text = written(value);
      if (text !== written(defaults[field])) parts.push(`${prefix}${field}=${escaped(text)}`);
    }
  }
  return parts.length === 0 ? '' : `#${parts.join('&')}`;
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// Brackets, colons and commas may stand in a fragment as they are, and are easier to read.
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/%(5B|5D|7B|7D|3A|2C|2F)/g, (code) =>
    decodeURIComponent(code),
  );
}

function fieldsOf(hash: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of hash.replace(/^#/, '').split('&')) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    try {
      fields.set(part.slice(0, equals), decodeURIComponent(part.slice(equals + 1)));
    } catch {
      // A broken escape: as if the field were not there.
    }
  }
  return fields;
}

// A value of the type of its default; undefined if the text is none. A default of null takes any.
function parse(text: string, fallback: unknown): unknown {
  if (typeof fallback === 'string') return text;
  try {
    const value: unknown = JSON.parse(text);
    return fallback === null || kindOf(value) === kindOf(fallback) ? value : undefined;
  } catch {
    return undefined;
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

// The first change of a gesture makes a step of the history, the others only alter that step.
// Changes of several slices in one go are one step.
function write(gesture?: string) {
  const isNew = gesture === undefined || gesture !== lastGesture;
  lastGesture = gesture;
  if (isNew && !isAboutToPush) {
    flush();
    needsStep = true;
  }
  unwritten = location.pathname + location.search + fragment();
  if (needsStep && !isAboutToPush) {
    isAboutToPush = true;
    queueMicrotask(flush);
  } else if (!needsStep && timer === undefined) {
    timer = setTimeout(flush, writeDelay);
  }
}

// A change that changed nothing leaves its step to the next one of its gesture.
function flush() {
  clearTimeout(timer);
  timer = undefined;
  isAboutToPush = false;
  const url = unwritten;
  unwritten = null;
  if (url === null || url === location.pathname + location.search + location.hash) return;
  if (needsStep) history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  needsStep = false;
}

function readAll() {
  lastGesture = undefined;
  const fields = fieldsOf(location.hash);
  for (const entry of entries) entry.read(fields);
}

window.addEventListener('popstate', readAll);
window.addEventListener('hashchange', readAll);
window.addEventListener('pagehide', flush);

// What belongs to no view: which one is open, and light or dark.
export const viewNames = ['words', 'model', 'run', 'lessons'] as const;
export type ViewName = (typeof viewNames)[number];

export const page = slice(
  '',
  { view: 'words' as ViewName, theme: 'auto' as 'auto' | 'light' | 'dark' },
  {
    isValid: (field, value) =>
      field === 'view'
        ? viewNames.includes(value as ViewName)
        : ['auto', 'light', 'dark'].includes(value as string),
  },
);
