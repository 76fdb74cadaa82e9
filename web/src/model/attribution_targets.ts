// Predictions that can be attributed: the tokens of a translation, the next token at any position of a
// text, the classes, the masks, the tags of words.
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
    return (answer.masks ?? []).map((mask, index) => ({
      index,
      label: pieceLabel(mask[0]?.piece ?? ''),
    }));
  }
  if (model.kind === 'tagger') {
    return (answer.words ?? []).map(({ word, tag, position }) => ({
      index: position,
      label: `${word} ${tag}`,
    }));
  }
  const tokens = target ?? source;
  const predicted = tokens.next ?? tokens.pieces.map((piece) => ({ piece: `${piece} →` }));
  return predicted.map(({ piece }, index) => ({ index, label: pieceLabel(piece) }));
}

// The last position of a text predicts its next word; elsewhere the first is the best start.
export function firstTarget({ answer }: RunAnswer, targets: Target[]): number {
  const first = answer.next ? targets[targets.length - 1] : targets[0];
  return first?.index ?? 0;
}
