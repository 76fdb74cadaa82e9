// The arithmetic of one weight as plain text, from which it can be done again: every number is the
// shortest decimal that is the same float.
import type { Cell, CellStep } from '../lib/api';
import { exact } from '../lib/format';
import { stepText } from './step_text';

export interface CellPlace {
  site: string;
  head: number;
  query: number;
  key: number;
}

export function cellText(cell: Cell, { site, head }: CellPlace): string {
  const { query, key, steps } = cell;
  const title = [
    `site: ${site}`,
    `head: ${head}`,
    `query: ${query.position} ${JSON.stringify(query.piece)}`,
    `key: ${key.position} ${JSON.stringify(key.piece)}`,
  ];
  return [title, ...steps.map((step) => stepLines(step, cell, head))]
    .map((lines) => lines.join('\n'))
    .join('\n\n')
    .concat('\n');
}

function stepLines(step: CellStep, cell: Cell, head: number): string[] {
  const { id, side, rows, result } = step;
  const { title, formula, note, order } = stepText(step, cell, head);
  return [
    `[${side ? `${id} ${side}` : id}] ${title}`,
    ...labelled('formula', formula),
    ...labelled('note', note),
    ...labelled('order', order),
    ...rows.map(({ name, values }) => `${name} = ${plainList(values)}`),
    ...(hasResult(result) ? [`result = ${plainResult(result)}`] : []),
  ];
}

// A number may be minus infinity, which arrives as null; an empty list says that there is none.
export function hasResult(result: CellStep['result'] | undefined): boolean {
  return result !== undefined && !(Array.isArray(result) && result.length === 0);
}

function labelled(name: string, value: string): string[] {
  return value ? [`${name}: ${value}`] : [];
}

function plainResult(result: CellStep['result']): string {
  return Array.isArray(result) ? plainList(result) : plain(result);
}

function plainList(values: (number | null)[]): string {
  return `[${values.map(plain).join(', ')}]`;
}

// With the signs that programs read.
function plain(value: number | null): string {
  return exact(value).replace('−', '-').replace('∞', 'inf');
}
