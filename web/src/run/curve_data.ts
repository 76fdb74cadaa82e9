// The columns of a curve: updates along the bottom, null where a line has no number.
import type { TrainingUpdates } from '../lib/api';
import type { Validation } from './training_run.svelte';

export interface Line {
  label: string;
  values: (number | null)[];
  hasPoints?: boolean; // few numbers: each is marked
}

export interface CurveData {
  updates: number[];
  lines: Line[];
}

export function ofUpdates(updates: TrainingUpdates, column: keyof TrainingUpdates, label: string): CurveData {
  return { updates: updates.update, lines: [{ label, values: updates[column] }] };
}

type Measure = 'loss' | 'bleu' | 'accuracy';

export function ofValidations(
  validations: Validation[],
  measures: { measure: Measure; label: string; factor?: number }[],
): CurveData {
  const lines = measures
    .filter(({ measure }) => validations.some((it) => typeof it[measure] === 'number'))
    .map(({ measure, label, factor = 1 }) => ({
      label,
      hasPoints: true,
      values: validations.map((it) => scaled(it[measure], factor)),
    }));
  return { updates: validations.map(({ update }) => update), lines };
}

function scaled(value: number | undefined, factor: number): number | null {
  return typeof value === 'number' ? value * factor : null;
}

// Two curves on the same updates; each has gaps where only the other has a number.
export function joined(a: CurveData, b: CurveData): CurveData {
  const updates = [...new Set([...a.updates, ...b.updates])].sort((x, y) => x - y);
  const place = new Map(updates.map((update, i) => [update, i]));
  const spread = ({ updates: own, lines }: CurveData): Line[] =>
    lines.map((line) => {
      const values: (number | null)[] = updates.map(() => null);
      own.forEach((update, i) => (values[place.get(update)!] = line.values[i]));
      return { ...line, values };
    });
  return { updates, lines: [...spread(a), ...spread(b)] };
}
