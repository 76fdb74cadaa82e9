// The model's run on the sentence of the page, and the weights of its attention.
import {
  api,
  latestWins,
  type HeadTensor,
  type Interventions,
  type RunAnswer,
  type Tokens,
  type WeightsShown,
} from '../lib/api';
import { numInterventions, type AllInterventions } from './interventions';

export interface RunWish {
  text: string;
  checkpoint: number | null;
  interventions: AllInterventions;
}

const asTheyAre: WeightsShown = { byWord: false, hideSpecial: false };
const tensorsKept = 24; // a long sentence has a megabyte a head

export class ModelRun {
  result = $state.raw<RunAnswer | null>(null);
  wish = $state.raw<RunWish | null>(null); // what the result answers
  original = $state.raw<Tokens | null>(null); // the sentence before words were replaced
  failure = $state('');
  isBusy = $state(false);

  #asked: RunWish | null = null;
  #tensors = new Map<string, Promise<HeadTensor>>();
  #send = latestWins(
    (wish: RunWish) => this.#run(wish),
    (result, wish) => this.#show(result, wish),
    (error) => this.#fail(error),
  );

  start(wish: RunWish) {
    this.#asked = wish;
    this.isBusy = true;
    this.#send(wish);
  }

  // The server keeps the newest runs only; an old one can be made once more.
  again() {
    if (this.#asked !== null) this.start(this.#asked);
  }

  // Of each site once, in each way they are shown; forgotten when the sentence changes.
  weights(site: string, shown: WeightsShown = asTheyAre): Promise<HeadTensor> {
    const key = JSON.stringify([this.result!.trace, site, shown.byWord, shown.hideSpecial]);
    let tensor = this.#tensors.get(key);
    if (tensor === undefined) {
      tensor = api.weights(this.result!.trace, site, shown);
      tensor.catch(() => this.#tensors.delete(key));
      this.#tensors.set(key, tensor);
      const oldest = this.#tensors.keys().next().value!;
      if (this.#tensors.size > tensorsKept) this.#tensors.delete(oldest);
    }
    return tensor;
  }

  async #run(wish: RunWish): Promise<RunAnswer> {
    const { text, checkpoint, interventions } = wish;
    const request = (wanted: Interventions | null) =>
      api.run({ text, target: null, checkpoint, interventions: wanted, beam: null });
    const isReplaced = interventions.replacements.length > 0;
    if (isReplaced && (this.original === null || this.wish?.text !== text)) {
      this.original = (await request(null)).source;
    }
    const result = await request(numInterventions(interventions) > 0 ? interventions : null);
    if (!isReplaced) this.original = result.source;
    return result;
  }

  #show(result: RunAnswer, wish: RunWish) {
    this.#tensors.clear();
    this.result = result;
    this.wish = wish;
    this.failure = '';
    this.isBusy = false;
  }

  #fail(error: unknown) {
    this.failure = error instanceof Error ? error.message : String(error);
    this.isBusy = false;
  }
}
