// A head's weights as a table: for screen readers and files.
import type { Table } from '../lib/export';
import type { HeadMatrix } from './head_matrix';

export function headTable({ queries, keys, values }: HeadMatrix): Table {
  return {
    columns: ['', ...keys.map(({ label }) => label)],
    rows: queries.map(({ label }, i) => [
      label,
      ...values.subarray(i * keys.length, (i + 1) * keys.length),
    ]),
  };
}
