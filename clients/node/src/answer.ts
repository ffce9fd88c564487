// Reads the line that answers a caller's request, as its slot wants it, and gives the result to the slot.
import { readDescription } from './description.js';
import { WrongValue } from './errors.js';
import { isPong, readIndexes, readNames, readPong } from './list.js';
import type { Piece } from './pieces.js';
import type { ErrorReply, Head } from './replies.js';
import { readError, readExists, readHead, readId, readModified, readOutcomes, readPairs, readRows } from './replies.js';
import { Reads } from './slot.js';
import type { Slot } from './slot.js';

/** If the line is an error, that is the result, and the slot has nothing yet. `head` is one that is not needed any more. */
export function giveAnswer(slot: Slot, piece: Piece, from: number, end: number, head: Head): ErrorReply | undefined {
  readHead(piece, from, end, head);
  const size = end - from + 1;
  if (head.code !== 0) {
    const error = readError(piece, head, end);
    if (slot.reads !== Reads.Pong || !isPong(error)) return error;
    slot.succeed(undefined, 0, size);
    return undefined;
  }
  switch (slot.reads) {
    case Reads.Rows:
      giveRows(slot, piece, head, end, size);
      break;
    case Reads.Modified: {
      const modified = readModified(piece, head.values, end);
      slot.succeed(modified, modified, size);
      break;
    }
    case Reads.Exists: {
      const exists = readExists(piece, head.values, end);
      slot.succeed(exists, exists ? 1 : 0, size);
      break;
    }
    case Reads.Outcomes: {
      const outcomes = readOutcomes(piece, head.values, end, head.count, slot.rows);
      slot.succeed(slot.kind.one ? outcomes[0] : outcomes, outcomes.length, size);
      break;
    }
    case Reads.Id:
      slot.succeed(readId(piece, head.values, end), 1, size);
      break;
    case Reads.Description: {
      // If it was open already, and could not be opened again, what is described is what it was.
      if (slot.opened?.error !== undefined) return slot.opened.error;
      const description = readDescription(piece, head, end, slot.definition!);
      slot.succeed(description, description.columns.length + description.filterColumns.length + description.key.length, size);
      break;
    }
    case Reads.Pairs: {
      const pairs = readPairs(piece, head, end);
      slot.succeed(pairs, pairs.size, size);
      break;
    }
    case Reads.Names: {
      const names = readNames(piece, head, end);
      slot.succeed(names, names.length, size);
      break;
    }
    case Reads.Indexes: {
      const indexes = readIndexes(piece, head, end);
      slot.succeed(indexes, indexes.reduce((sum, { parts }) => sum + parts.length, 0), size);
      break;
    }
    case Reads.Pong:
      readPong(piece, head, end);
      slot.succeed(undefined, 0, size);
      break;
    default:
      slot.succeed(undefined, 0, size);
  }
  return undefined;
}

function giveRows(slot: Slot, piece: Piece, head: Head, end: number, size: number): void {
  let rows: unknown[];
  try {
    rows = readRows(piece, head.values, end, head.count, slot.kind.shape!);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    slot.spoil(error.message, error.cause, size);
    return;
  }
  slot.succeed(slot.kind.one ? (rows.length > 0 ? rows[0] : null) : rows, rows.length, size);
}
