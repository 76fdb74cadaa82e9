// Changes of the model, as new values: nothing is altered in place.
import type { Changes } from '../lib/api';

type All = Required<Changes>;
export type Link = All['links'][number];

export function headScale({ heads }: All, site: string, head: number): number {
  return heads.find((it) => it.site === site && it.head === head)?.scale ?? 1;
}

// A scale of 1 is no change.
export function withHeadScale(changes: All, site: string, head: number, scale: number): All {
  const others = changes.heads.filter((it) => it.site !== site || it.head !== head);
  return { ...changes, heads: scale === 1 ? others : [...others, { site, head, scale }] };
}

export function withLink(changes: All, link: Link): All {
  const others = withoutLink(changes, link).links;
  return { ...changes, links: [...others, link] };
}

export function withoutLink(changes: All, link: Link): All {
  const isSame = (it: Link) => JSON.stringify(linkKey(it)) === JSON.stringify(linkKey(link));
  return { ...changes, links: changes.links.filter((it) => !isSame(it)) };
}

function linkKey({ site, head, query, key }: Link) {
  return [site, head, query, key];
}

export function replacement({ replace }: All, word: number): string | undefined {
  return replace.find((it) => it.word === word)?.text;
}

// The word's own text is no change; so is an empty one.
export function withReplacement(changes: All, word: number, text: string, own: string): All {
  const others = changes.replace.filter((it) => it.word !== word);
  const isChange = text !== '' && text !== own;
  return { ...changes, replace: isChange ? [...others, { side: 'source', word, text }] : others };
}
