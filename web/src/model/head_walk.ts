// Walking over the heads of a model: left and right inside a layer, up and down through the layers.
import type { HeadFact, Site } from '../lib/api';
import type { Order } from './state';

export type SiteFacts = Site & { head_facts: HeadFact[] };

export interface ChosenHead {
  site: SiteFacts;
  head: number;
}

export interface Step {
  heads: number;
  layers: number;
}

// The head that the state names; the first one if the model has none of that name.
export function chosenHead(sites: SiteFacts[], name: string, head: number): ChosenHead {
  const site = sites.find((site) => site.name === name) ?? sites[0];
  return { site, head: clamped(head, site.heads) };
}

// Stays inside the part (encoder, decoder, cross), so that up and down mean layers.
export function neighbour(sites: SiteFacts[], { site, head }: ChosenHead, step: Step): ChosenHead {
  const part = sites.filter(({ part }) => part === site.part);
  const next = part[clamped(part.indexOf(site) + step.layers, part.length)];
  return { site: next, head: clamped(head + step.heads, next.heads) };
}

// The parts in the order they work, each with its layers.
export function partsOf(sites: SiteFacts[]): { part: Site['part']; sites: SiteFacts[] }[] {
  const parts: Site['part'][] = ['encoder', 'decoder', 'cross', 'stack'];
  return parts
    .map((part) => ({ part, sites: sites.filter((site) => site.part === part) }))
    .filter(({ sites }) => sites.length > 0);
}

export function headsByEntropy(sites: SiteFacts[], order: Order): ChosenHead[] {
  const sign = order === 'peaked' ? 1 : -1;
  const entropy = ({ site, head }: ChosenHead) => site.head_facts[head].entropy;
  return sites
    .flatMap((site) => site.head_facts.map((_, head) => ({ site, head })))
    .sort((a, b) => sign * (entropy(a) - entropy(b)));
}

function clamped(value: number, size: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, 0), size - 1);
}
