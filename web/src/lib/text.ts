// Every string of the page in one table, so that the page can be translated. The views keep their
// part of the table beside their code.
import { lessonsText } from '../lessons/text';
import { modelText } from '../model/text';
import { runText } from '../run/text';
import { wordsText } from '../words/text';

export const text = {
  page: {
    name: 'Heed',
    title: 'Heed explorer',
    views: { words: 'Words', model: 'Model', run: 'Run', lessons: 'Lessons' },
    viewsLabel: 'Views',
    noModel: 'no model open',
    noModelLong:
      'This view needs a model. Start the program with one: heed explore --model DIR. The words and the lessons work without it.',
    theme: 'Colours',
    themes: { auto: 'as the system', light: 'light', dark: 'dark' },
    help: 'Help',
    helpTitle: 'Keys',
    helpNote: 'The address of the page holds everything you see: copy it to come back here.',
    close: 'Close',
    saveView: 'Save view',
    saveViewHint: 'This view as one HTML file that needs nothing else',
    skip: 'Skip to the view',
    loading: 'Loading …',
    keys: {
      view: 'open one of the views',
      help: 'show or hide this help',
      escape: 'close what is open, leave a field',
    },
  },
  figure: {
    save: 'Save',
    saveOf: (name: string) => `Save: ${name}`,
    formats: { svg: 'SVG picture', png: 'PNG picture', csv: 'CSV table', json: 'JSON data' },
    table: 'As a table',
    picture: 'As a picture',
  },
  words: wordsText,
  lessons: lessonsText,
  model: modelText,
  run: runText,
};
