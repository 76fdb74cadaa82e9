// What can be explained: the tokens that a translation gave, the next token at any place of a text,
// the classes, the gaps.
import type { ModelFacts, RunAnswer } from '../lib/api';
import { pieceLabel } from './piece_label';

export interface Target {
  index: number; // as the server counts
  label: string;
}

const classesShown = 10;

export function targetsOf({ source, target, answer }: RunAnswer, model: ModelFacts): Target[] {
  if (model.kind === 'classifier') {
    const labels = model.labels ?? [];
    return (answer.classes ?? [])
      .slice(0, classesShown)
      .map(({ label }) => ({ index: labels.indexOf(label), label }));
  }
  if (model.kind === 'masked') {
    return (answer.gaps ?? []).map((gap, index) => ({
      index,
      label: pieceLabel(gap[0]?.piece ?? ''),
    }));
  }
  const tokens = target ?? source;
  const predicted = tokens.next ?? tokens.pieces.map((piece) => ({ piece: `${piece} →` }));
  return predicted.map(({ piece }, index) => ({ index, label: pieceLabel(piece) }));
}

// A text's last place is where its next word is made; elsewhere the first is the best to begin with.
export function firstTarget({ answer }: RunAnswer, targets: Target[]): number {
  const first = answer.next ? targets[targets.length - 1] : targets[0];
  return first?.index ?? 0;
}
