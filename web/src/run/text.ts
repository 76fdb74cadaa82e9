// The strings of this view: a part of the table in lib/text.ts.
export const runText = {};
