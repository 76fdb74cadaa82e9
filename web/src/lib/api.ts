// The calls of the server, typed. Whatever fails arrives as an ApiError with the server's own line.

export type Similarity = 'dot' | 'cosine' | 'scaled-dot';
export type Matrix = number[][];

// About the program and its model

export type ModelKind =
  | 'translation'
  | 'language'
  | 'classifier'
  | 'masked'
  | 'image_classifier'
  | 'tagger'
  | 'encoder';
export type Side = 'source' | 'target';

export interface Site {
  name: string;
  part: 'encoder' | 'decoder' | 'cross' | 'stack';
  layer: number;
  heads: number;
  queries: Side;
  keys: Side;
}

export interface ModelFacts {
  folder: string;
  kind: ModelKind;
  parameters: number;
  head_width: number;
  config: Record<string, unknown>;
  sites: Site[];
  labels?: string[];
  vocabulary: number;
}

export interface About {
  version: string;
  model: ModelFacts | null;
  examples: string[];
  run: { is_live: boolean; checkpoints: number[] } | null;
}

// Words: attention on named vectors

export interface HeadMatrices {
  query: Matrix;
  key: Matrix;
  value: Matrix;
}

export interface WordsRequest {
  words: { name: string; vector: number[] }[];
  similarity: Similarity;
  heads: HeadMatrices[];
  output: Matrix | null;
  mask: boolean[][] | null; // true: may look
}

export interface WordsHead {
  queries: Matrix;
  keys: Matrix;
  values: Matrix;
  products: number[][][];
  similarities: Matrix;
  scale: number;
  masked: (number | null)[][]; // null: minus infinity
  exps: Matrix;
  row_max: (number | null)[];
  row_sums: number[];
  weights: Matrix;
  pulls: number[][][];
  contexts: Matrix;
}

export interface WordsAnswer {
  heads: WordsHead[];
  concatenated: Matrix;
  outputs: Matrix;
}

// A run of the model

export interface Tokens {
  pieces: string[];
  texts: string[];
  ids: number[];
  words: number[];
  word_texts: string[];
  special: boolean[];
  next?: PieceChance[];
}

export interface PieceChance {
  piece: string;
  id?: number;
  probability: number;
}

export interface Answer {
  text?: string;
  score?: number;
  tokens?: { piece: string; log_probability: number }[];
  next?: PieceChance[];
  classes?: { label: string; probability: number }[];
  masks?: PieceChance[][];
  words?: { word: string; tag: string; probability: number; position: number }[];
  vector?: number[]; // of the sentence, by an encoder without a head
  length?: number;
  pooling?: string;
  normalized?: boolean;
}

export interface HeadFact {
  label: string;
  share: number;
  entropy: number;
}

export interface Interventions {
  head_scales?: { site: string; head: number; scale: number }[];
  knockouts?: { site: string; head: number | null; query: number; key: number }[];
  similarity?: Similarity | null;
  replacements?: { side: Side; word: number; text: string }[];
}

export interface RunRequest {
  text: string;
  target: string | null;
  checkpoint: number | null;
  interventions: Interventions | null;
  beam: number | null;
}

export interface Comparison {
  before: Answer;
  after: Answer;
  tokens: {
    position: number;
    piece: string;
    before: number;
    after: number;
    difference: number;
  }[];
}

export interface RunAnswer {
  trace: string | number;
  source: Tokens;
  target: Tokens | null;
  answer: Answer;
  sites: (Site & { head_facts: HeadFact[] })[];
  compare?: Comparison;
}

// How the weights of a head are shown: between tokens or words, with or without special tokens.
export interface WeightsShown {
  byWord: boolean;
  hideSpecial: boolean;
}

export interface HeadTensor {
  heads: number;
  queries: number;
  keys: number;
  values: Float32Array; // [heads, queries, keys]
}

export interface CellStep {
  id: string;
  side: string; // query or key, where a step is done for one of the two
  variant: string; // which of its forms a step has; empty where it has only one
  rows: { name: string; values: (number | null)[] }[];
  result: number | number[] | null;
}

// The order in which the engine adds up.
export interface Arithmetic {
  lanes: number;
  is_fused: boolean;
  lane_order: 'halves' | 'neighbours' | 'in turn' | 'unknown';
  chain: number; // products that are added up without a break
  key_block: number; // keys that the softmax takes at a time
}

export interface CellToken {
  piece: string;
  id: number;
  position: number;
}

export interface Cell {
  query: CellToken;
  key: CellToken;
  head_dim: number;
  exact: boolean; // this order gives the engine's bits
  arithmetic: Arithmetic;
  steps: CellStep[];
}

export interface WordPath {
  piece: string;
  points: { stage: string; x: number; y: number }[];
}

export interface Paths {
  plane: { explained: number[] };
  anchors: { piece: string; x: number; y: number }[];
  side: { source: WordPath[]; target?: WordPath[] };
}

export interface Attribution {
  predicted: { piece: string; probability: number };
  inputs: {
    piece: string;
    attention: number;
    gradient_x_input: number | null;
    leave_one_out: number | null;
  }[];
  attention_from: 'decoder' | 'position' | 'all'; // the queries whose attention it is
}

export interface BeamNode {
  id: number;
  parent: number | null;
  piece: string;
  log_probability: number;
  score: number;
  normalised_score?: number; // by which finished ones compete
  step: number;
  state: 'live' | 'finished' | 'dropped';
  rank: number;
}

export interface Beam {
  nodes: BeamNode[];
  best: number[];
}

export interface NextRequest {
  text: string;
  checkpoint?: number | null;
  temperature: number;
  top_k: number;
  top_p: number;
  min_p: number;
  trace?: string | number;
  prefix?: number; // so many tokens come before the wanted one; all of them without
  target?: string | null;
}

export interface NextTokens {
  tokens: {
    piece: string;
    id: number;
    logit: number;
    probability: number;
    kept: boolean;
    chance: number;
  }[];
}

// A training run

export interface TrainingUpdates {
  update: number[];
  loss: number[];
  learning_rate: number[];
  gradient_norm: number[];
  tokens_per_second: number[];
}

export interface Training {
  updates: TrainingUpdates;
  validations: Record<string, unknown>[];
  is_live: boolean;
}

// The calls

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function request(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'the server does not answer; is heed explore still running?');
  }
  if (!response.ok) throw new ApiError(response.status, await errorLine(response));
  return response;
}

async function errorLine(response: Response): Promise<string> {
  const body = await response.text();
  try {
    return String(JSON.parse(body).error);
  } catch {
    return body.trim() || `${response.status} ${response.statusText}`;
  }
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request(path, { signal })).json();
}

async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const options = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  };
  return (await request(path, options)).json();
}

function query(values: Record<string, string | number>): string {
  const entries = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams(entries).toString();
}

// float32, little-endian, with its shape in a header
async function tensor(path: string, signal?: AbortSignal): Promise<HeadTensor> {
  const response = await request(path, { signal });
  const shape = (response.headers.get('X-Heed-Shape') ?? '').split(',').map(Number);
  const values = new Float32Array(await response.arrayBuffer());
  const [heads, queries, keys] = shape;
  if (shape.length !== 3 || values.length !== heads * queries * keys) {
    throw new ApiError(0, `${path}: expected ${shape.join(' x ')} floats, found ${values.length}`);
  }
  return { heads, queries, keys, values };
}

type TraceId = string | number;

export const api = {
  about: (signal?: AbortSignal) => get<About>('/api/about', signal),
  words: (body: WordsRequest, signal?: AbortSignal) =>
    post<WordsAnswer>('/api/words', body, signal),
  run: (body: RunRequest, signal?: AbortSignal) => post<RunAnswer>('/api/run', body, signal),
  weights: (trace: TraceId, site: string, shown: WeightsShown, signal?: AbortSignal) =>
    tensor(
      `/api/trace/${trace}/weights?${query({
        site,
        ...(shown.byWord ? { words: 1 } : {}),
        ...(shown.hideSpecial ? { special: 0 } : {}),
      })}`,
      signal,
    ),
  scores: (trace: TraceId, site: string, signal?: AbortSignal) =>
    tensor(`/api/trace/${trace}/scores?${query({ site })}`, signal),
  cell: (
    trace: TraceId,
    place: { site: string; head: number; query: number; key: number },
    signal?: AbortSignal,
  ) => get<Cell>(`/api/trace/${trace}/cell?${query(place)}`, signal),
  paths: (trace: TraceId, signal?: AbortSignal) => get<Paths>(`/api/trace/${trace}/paths`, signal),
  attribution: (trace: TraceId, target: number, signal?: AbortSignal) =>
    get<Attribution>(`/api/trace/${trace}/attribution?${query({ target })}`, signal),
  beam: (trace: TraceId, size: number, signal?: AbortSignal) =>
    get<Beam>(`/api/trace/${trace}/beam?${query({ size })}`, signal),
  next: (body: NextRequest, signal?: AbortSignal) => post<NextTokens>('/api/next', body, signal),
  training: (signal?: AbortSignal) => get<Training>('/api/training', signal),
  checkpoints: (signal?: AbortSignal) => get<{ updates: number[] }>('/api/checkpoints', signal),
  trainingEvents: () => new EventSource('/api/training/events'),
};

// Requests while something is dragged: one at a time, and of those that wait only the latest is
// sent. `show` gets the answers in order; nothing is shown of a request that was overtaken.
export function latestWins<Body, Result>(
  call: (body: Body) => Promise<Result>,
  show: (result: Result, body: Body) => void,
  fail: (error: unknown) => void,
): (body: Body) => void {
  let waiting: { body: Body } | null = null;
  let isBusy = false;

  async function work() {
    isBusy = true;
    while (waiting !== null) {
      const { body }: { body: Body } = waiting;
      waiting = null;
      try {
        show(await call(body), body);
      } catch (error) {
        fail(error);
      }
    }
    isBusy = false;
  }

  return (body) => {
    waiting = { body };
    if (!isBusy) void work();
  };
}
