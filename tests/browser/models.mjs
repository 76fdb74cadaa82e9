// Small models, trained in a few seconds: bad ones, but their numbers are as real as any.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { options } from './options.mjs';
import { heed, startHeed } from './rig.mjs';

const size = ['--width', '32', '--feed-forward', '64', '--heads', '2', '--threads', '1', '--quiet'];

export class Models {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'heed_browser_'));
    heed(['corpus', '--output', this.path('corpus'), '--pairs', '600', '--valid-pairs', '20', '--test-pairs', '10']);
  }

  path(name) {
    return join(this.folder, name);
  }

  remove() {
    rmSync(this.folder, { recursive: true });
  }

  lines(file) {
    return readFileSync(this.path(`corpus/${file}`), 'utf8').trim().split('\n');
  }

  translationArguments(name, after) {
    return [
      'train', '--model', this.path(name), ...size,
      '--source', this.path('corpus/train.en'), '--target', this.path('corpus/train.de'),
      '--valid-source', this.path('corpus/valid.en'), '--valid-target', this.path('corpus/valid.de'),
      '--encoder-layers', '2', '--decoder-layers', '2', '--vocabulary', '500', '--batch-tokens', '600',
      '--warm-up', '20', '--learning-rate', '0.01', '--dropout', '0',
      '--after', after, '--validate-every', '60u', '--save-every', '30u', '--keep', '5',
    ];
  }

  // The one that the command line names, or a small one.
  translation() {
    if (options.model) return options.model;
    heed(this.translationArguments('translation', '120u'));
    return this.path('translation');
  }

  // A run that trains until it is stopped.
  startTraining(name) {
    return startHeed(this.translationArguments(name, '100000u'));
  }

  language() {
    heed([
      'train', '--model', this.path('language'), ...size, '--text', this.path('corpus/train.en'),
      '--preset', 'char', '--decoder-layers', '2', '--after', '30u', '--batch-tokens', '600',
    ]);
    return this.path('language');
  }

  classifier() {
    const lines = this.lines('train.en').slice(0, 200);
    const labelled = lines.map((line) => `${line.includes('it') ? 'with' : 'without'}\t${line}`);
    writeFileSync(this.path('labelled.tsv'), labelled.join('\n') + '\n');
    heed([
      'train', '--model', this.path('classifier'), ...size, '--labelled', this.path('labelled.tsv'),
      '--encoder-layers', '2', '--vocabulary', '300', '--after', '20u', '--batch-tokens', '600',
    ]);
    return this.path('classifier');
  }
}
