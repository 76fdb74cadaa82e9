// What the lessons say about the sentence on the screen and about the open model.
import type { ModelFacts, WordsAnswer } from '../lib/api';
import { counted, exact } from '../lib/format';
import type { WordsState } from '../words/state';
import type { ModelNumbers, WordFacts } from './text';

// The engine's numbers for the chosen word and the first other one; null for a lone word.
export function wordFacts(state: WordsState, answer: WordsAnswer): WordFacts | null {
  const count = answer.outputs.length;
  const i = Math.min(state.chosen, count - 1);
  const head = answer.heads[Math.min(state.head, answer.heads.length - 1)];
  if (count < 2) return null;
  const j = i === 0 ? 1 : 0;
  const named = head.weights[i].map((weight, k) => `${state.words[k][0]} ${exact(weight)}`);
  return {
    chosen: state.words[i][0],
    other: state.words[j][0],
    similarity: exact(head.similarities[i][j]),
    back: exact(head.similarities[j][i]),
    weights: named.join(', '),
    weight: exact(head.weights[i][j]),
    exponential: exact(head.exps[i][j]),
    sum: exact(head.row_sums[i]),
    context: answer.outputs[i].map(exact).join(', '),
    scale: exact(head.scale),
  };
}

export function modelNumbers({ config, parameters, head_width }: ModelFacts): ModelNumbers {
  const number = (name: string) => Number(config[name] ?? 0);
  return {
    width: number('d_model'),
    heads: number('attention_heads'),
    headWidth: head_width,
    hidden: number('ffn_dim'),
    encoderLayers: number('encoder_layers'),
    decoderLayers: number('decoder_layers'),
    normPlace: String(config.norm_place ?? ''),
    positions: String(config.positions ?? ''),
    activation: String(config.activation_function ?? ''),
    parameters: counted(parameters),
  };
}
