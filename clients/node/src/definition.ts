// An index as a connection opens it. It belongs to the client: each connection gives it a number of its own.
import { usage } from './errors.js';
import { openTail } from './requests.js';

/** In place of the columns: all that the table has when the index is opened. */
const ALL_COLUMNS = '*';

export class Definition {
  /** `P` behind its number. Two definitions with the same words are one. */
  readonly words: string;

  constructor(
    readonly database: string,
    readonly table: string,
    readonly index: string,
    /** undefined: all that the table has. */
    readonly columns: readonly string[] | undefined,
    readonly filterColumns: readonly string[],
  ) {
    if (columns?.length === 1 && columns[0] === ALL_COLUMNS)
      throw usage('a column that is called * cannot stand alone: it would be all columns');
    this.words = openTail(database, table, index, columns ?? [ALL_COLUMNS], filterColumns);
  }
}
