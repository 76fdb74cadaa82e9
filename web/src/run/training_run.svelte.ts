// The record of a training run, kept up to date by the server's events.
import { api, type Training, type TrainingUpdates } from '../lib/api';
import { checkpoints } from '../model/checkpoints';

export interface Sample {
  source: string; // empty where the model generates without a prompt
  output: string;
  reference?: string;
}

// A line of metrics.jsonl; what is there depends on the task.
export interface Validation {
  update: number;
  loss?: number;
  bleu?: number;
  accuracy?: number;
  perplexity?: number;
  samples?: Sample[];
}

type UpdatePoint = { [Column in keyof TrainingUpdates]: number };
type History = Training & { checkpoints?: number[] };

const columns = ['update', 'loss', 'learning_rate', 'gradient_norm', 'tokens_per_second'] as const;
const maxPoints = 4000; // twice what the server sends: then every second one goes

function noUpdates(): TrainingUpdates {
  return { update: [], loss: [], learning_rate: [], gradient_norm: [], tokens_per_second: [] };
}

export class TrainingRun {
  updates = $state.raw<TrainingUpdates>(noUpdates());
  validations = $state.raw<Validation[]>([]);
  isLive = $state(false);
  isKnown = $state(false); // something was heard
  isLost = $state(false); // the browser tries again
  isRefused = $state(false); // the browser does not try again

  #fresh: UpdatePoint[] = [];
  #frame = 0;

  // Listens until the returned function is called: made for $effect.
  listen(): () => void {
    const events = api.trainingEvents();
    const on = <T>(name: string, act: (data: T) => void) =>
      events.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent).data)));
    on<History>('history', (history) => this.#begin(history));
    on<UpdatePoint>('update', (point) => this.#add(point));
    on<Validation>('validation', (line) => (this.validations = [...this.validations, line]));
    on<{ updates: number[] }>('checkpoints', ({ updates }) => checkpoints.set(updates));
    on<{ is_live: boolean }>('live', ({ is_live }) => (this.isLive = is_live));
    events.onopen = () => (this.isLost = false);
    events.onerror = () => {
      this.isRefused = events.readyState === EventSource.CLOSED;
      this.isLost = !this.isRefused;
    };
    return () => {
      events.close();
      cancelAnimationFrame(this.#frame);
    };
  }

  #begin(history: History) {
    this.#fresh = [];
    this.updates = history.updates;
    this.validations = history.validations as unknown as Validation[];
    this.isLive = history.is_live;
    this.isKnown = true;
    if (history.checkpoints) checkpoints.set(history.checkpoints);
  }

  // Several updates may come in one frame; they are drawn once.
  #add(point: UpdatePoint) {
    this.#fresh.push(point);
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#take());
  }

  #take() {
    const next = noUpdates();
    for (const column of columns) {
      const all = [...this.updates[column], ...this.#fresh.map((point) => point[column])];
      next[column] =
        all.length > maxPoints ? all.filter((_, i) => (all.length - 1 - i) % 2 === 0) : all;
    }
    this.#fresh = [];
    this.updates = next;
  }
}
