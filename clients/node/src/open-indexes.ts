// The indexes that are open on one connection, and their numbers. An index is opened in front of the first request that
// needs it, and has the same number if it has to be opened again.
import type { Connection } from './connection.js';
import type { Definition } from './definition.js';
import type { ErrorReply } from './replies.js';
import { Kind, Reads, Slot } from './slot.js';
import type { Opened } from './slot.js';

/** What a server answers to P when as many indexes are open as may be. */
const NO_ROOM = 'stmtnum';
const OPENING = new Kind('open', undefined, Reads.Nothing, false);

export class OpenIndexes {
  private readonly opened = new Map<Definition, Opened>();
  private readonly ids = new Map<Definition, number>();
  /** An index was opened. What is opened stays open. */
  private someOpen = false;
  /** For requests that need none. */
  private readonly none: Opened;

  constructor(private readonly connection: Connection) {
    this.none = { connection, definition: undefined, prefix: '', error: undefined };
  }

  /** The index on this connection. If it is not open, `P` takes its place in front of what comes next. */
  of(definition: Definition | undefined): Opened {
    if (definition === undefined) return this.none;
    return this.opened.get(definition) ?? this.open(definition);
  }

  private open(definition: Definition): Opened {
    let id = this.ids.get(definition);
    if (id === undefined) this.ids.set(definition, (id = this.ids.size + 1));
    const opened: Opened = { connection: this.connection, definition, prefix: String(id), error: undefined };
    // All columns are those that the table had when the index was opened, so who asks for them again wants it opened again.
    if (definition.columns !== undefined) this.opened.set(definition, opened);
    const slot = new Slot(OPENING, `P\t${id}${definition.words}`);
    slot.opened = opened;
    this.connection.push(slot);
    return opened;
  }

  /** The server has opened an index. */
  succeeded(): void {
    this.someOpen = true;
  }

  /**
   * What has been sent behind `P` is answered that the index is not open. The next call asks for the index again. True if the
   * connection is full. If it has no index at all, the server has no room for one, and a new connection would not help.
   */
  refused(opened: Opened, error: ErrorReply): boolean {
    const isFull = this.someOpen && error.text === NO_ROOM;
    opened.error = isFull ? { ...error, isFull } : error;
    const { definition } = opened;
    if (definition !== undefined && this.opened.get(definition) === opened) this.opened.delete(definition);
    return isFull;
  }
}
