// An index as a connection opens it. It belongs to the client: each connection gives it a number of its own.
import { openTail } from './requests.js';

export class Definition {
  /** `P` behind its number. Two definitions with the same words are one. */
  readonly words: string;

  constructor(
    readonly database: string,
    readonly table: string,
    readonly index: string,
    readonly columns: readonly string[],
    readonly filterColumns: readonly string[],
  ) {
    this.words = openTail(database, table, index, columns, filterColumns);
  }
}
