// What the model view shows: its part of the URL.
import { slice } from '../lib/state';
import { interventionsOf, noInterventions } from './interventions';

export const panelNames = ['heads', 'paths', 'interventions', 'attribution', 'decoding'] as const;
export type PanelName = (typeof panelNames)[number];

// By layer, or by entropy: the most peaked heads or the broadest first.
export const orders = ['layer', 'peaked', 'broad'] as const;
export type Order = (typeof orders)[number];

const defaults = {
  panel: 'heads' as PanelName,
  text: '', // empty: the first example
  checkpoint: null as number | null, // null: the model as it is
  interventions: noInterventions,
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
  // attribution and decoding
  target: -1, // the position or class that is explained; -1: the likeliest to interest
  beam: 5,
  prefix: -1, // tokens before the next-token bars; -1: all of a text, the first of a translation
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
};

export type ModelState = typeof defaults;

// Names of an older page, which bookmarks may hold.
const oldPanels: Record<string, PanelName> = { changes: 'interventions', truth: 'attribution' };
const oldOrders: Record<string, Order> = { narrow: 'peaked' };

export const modelState = slice('model', defaults, {
  isValid,
  oldNames: { interventions: 'changes' },
  upgrade: (field, value) => {
    if (field === 'panel') return oldPanels[value as string] ?? value;
    if (field === 'order') return oldOrders[value as string] ?? value;
    if (field === 'interventions') return interventionsOf(value);
    return value;
  },
});

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
    case 'side':
      return value === 'source' || value === 'target';
    default:
      return typeof value !== 'number' || Number.isFinite(value);
  }
}

function isCell(value: unknown[]): boolean {
  return (value.length === 0 || value.length === 2) && value.every(Number.isInteger);
}
