// Interventions in the model, as new values: nothing is altered in place.
import type { Interventions } from '../lib/api';

export type AllInterventions = Required<Interventions>;
export type Knockout = AllInterventions['knockouts'][number];

export const noInterventions: AllInterventions = {
  head_scales: [],
  knockouts: [],
  similarity: null,
  replacements: [],
};

export function numInterventions(all: AllInterventions): number {
  const { head_scales, knockouts, similarity, replacements } = all;
  return (
    head_scales.length + knockouts.length + (similarity === null ? 0 : 1) + replacements.length
  );
}

// What an address may hold: also of an older page, whose fields had other names.
export function interventionsOf(value: unknown): AllInterventions | undefined {
  const fields = value as Record<string, unknown>;
  const all = {
    head_scales: fields.head_scales ?? fields.heads,
    knockouts: fields.knockouts ?? fields.links,
    similarity: fields.similarity ?? null,
    replacements: fields.replacements ?? fields.replace,
  };
  const isValid = [all.head_scales, all.knockouts, all.replacements].every(Array.isArray);
  return isValid ? (all as AllInterventions) : undefined;
}

export function headScale({ head_scales }: AllInterventions, site: string, head: number): number {
  return head_scales.find((it) => it.site === site && it.head === head)?.scale ?? 1;
}

// A scale of 1 is no intervention; 0 is an ablation.
export function withHeadScale(
  all: AllInterventions,
  site: string,
  head: number,
  scale: number,
): AllInterventions {
  const others = all.head_scales.filter((it) => it.site !== site || it.head !== head);
  return { ...all, head_scales: scale === 1 ? others : [...others, { site, head, scale }] };
}

export function withKnockout(all: AllInterventions, knockout: Knockout): AllInterventions {
  const others = withoutKnockout(all, knockout).knockouts;
  return { ...all, knockouts: [...others, knockout] };
}

export function withoutKnockout(all: AllInterventions, knockout: Knockout): AllInterventions {
  const isSame = (it: Knockout) => JSON.stringify(keyOf(it)) === JSON.stringify(keyOf(knockout));
  return { ...all, knockouts: all.knockouts.filter((it) => !isSame(it)) };
}

function keyOf({ site, head, query, key }: Knockout) {
  return [site, head, query, key];
}

export function replacement({ replacements }: AllInterventions, word: number): string | undefined {
  return replacements.find((it) => it.word === word)?.text;
}

// The word's own text is no replacement; nor is an empty one.
export function withReplacement(
  all: AllInterventions,
  word: number,
  text: string,
  own: string,
): AllInterventions {
  const others = all.replacements.filter((it) => it.word !== word);
  const isOther = text !== '' && text !== own;
  return { ...all, replacements: isOther ? [...others, { side: 'source', word, text }] : others };
}
