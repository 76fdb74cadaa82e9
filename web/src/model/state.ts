// What the model view shows: its part of the URL.
import type { Changes } from '../lib/api';
import { slice } from '../lib/state';

export const panelNames = ['heads', 'paths', 'changes', 'truth', 'decoding'] as const;
export type PanelName = (typeof panelNames)[number];

export const orders = ['layer', 'narrow', 'broad'] as const;
export type Order = (typeof orders)[number];

export const noChanges: Required<Changes> = { heads: [], links: [], similarity: null, replace: [] };

const defaults = {
  panel: 'heads' as PanelName,
  text: '', // empty: the first example
  checkpoint: null as number | null, // null: the model as it is
  changes: noChanges,
  // heads
  order: 'layer' as Order,
  site: '', // the open head's; empty: all heads are shown
  head: 0,
  cell: [] as number[], // query and key, as pieces; empty: none is open
  byWord: false,
  hideSpecial: false,
  isLog: false,
  // paths
  side: 'source' as 'source' | 'target',
  stage: -1, // -1: the last
  anchors: true,
  isClose: false, // only where the words are now
  // truth and decoding
  target: -1, // the position or class that is explained; -1: the likeliest to interest
  beam: 5,
  prefix: -1, // tokens before the next-token bars; -1: all of a text, the first of a translation
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
};

export type ModelState = typeof defaults;

export const modelState = slice('model', defaults, isValid);

function isValid(field: keyof ModelState, value: unknown): boolean {
  switch (field) {
    case 'panel':
      return panelNames.includes(value as PanelName);
    case 'order':
      return orders.includes(value as Order);
    case 'checkpoint':
      return value === null || Number.isInteger(value);
    case 'cell':
      return isCell(value as unknown[]);
    case 'changes':
      return isChanges(value as Record<string, unknown>);
    case 'side':
      return value === 'source' || value === 'target';
    default:
      return typeof value !== 'number' || Number.isFinite(value);
  }
}

function isCell(value: unknown[]): boolean {
  return (value.length === 0 || value.length === 2) && value.every(Number.isInteger);
}

function isChanges({ heads, links, replace }: Record<string, unknown>): boolean {
  return [heads, links, replace].every(Array.isArray);
}

export function changesIn({ heads, links, similarity, replace }: Required<Changes>): number {
  return heads.length + links.length + (similarity === null ? 0 : 1) + replace.length;
}
