// Tests of the explorer's page in a real browser, with the program serving it:
//
//   node tests/browser/run.mjs [--program build/release/heed] [VIEW ...]
//
// A VIEW is access, words, model, run, lessons or manners, or rig, the tests' own tools; all of them
// without one. With --screenshots FOLDER pictures of the views are left there, of the translator that
// --model names or of a small one that is trained on the spot.
import { options } from './options.mjs';

const all = ['rig', 'access', 'words', 'model', 'run', 'lessons', 'manners'];
for (const view of options.views.length > 0 ? options.views : all) {
  await import(`./${view}.test.mjs`);
}
