// What a call of this client can fail with. Errors are made where something goes wrong and are given to the callers;
// none of them ever holds a password, a secret or the values of a row, but for the message of the server, if it was asked for.
import type { Told } from './replies.js';
import { SERVER_ERRORS } from './server-errors.js';
import type { ServerErrorKind, ServerErrorRetry } from './server-errors.js';

/** What went wrong, as one word. */
export type ErrorKind =
  'usage' | 'reply' | 'lost' | 'connect' | 'log_in' | 'timeout' | 'cancelled' | 'busy' | 'protocol' | 'closed' | 'decode';

/** Whether the server can have seen a request, and whether it may have executed it. */
export interface Fate {
  readonly sent: boolean;
  readonly maybeExecuted: boolean;
}

export const NOT_SENT: Fate = { sent: false, maybeExecuted: false };

// What Node's own APIs call such errors, so that code which looks at the name works here, too.
const NAMES: Partial<Record<ErrorKind, string>> = { cancelled: 'AbortError', timeout: 'TimeoutError' };

/** Every error of this package. `kind` says what went wrong. */
export class HandlerSocketError extends Error {
  readonly kind: ErrorKind;
  /** The server can have seen the request. */
  readonly sent: boolean;
  /**
   * The request modifies, it was sent, and nobody knows whether it was executed. Of the kind `decode` it was: only its reply could not
   * be read.
   */
  readonly maybeExecuted: boolean;

  constructor(kind: ErrorKind, message: string, fate: Fate = NOT_SENT, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = NAMES[kind] ?? 'HandlerSocketError';
    this.kind = kind;
    this.sent = fate.sent;
    this.maybeExecuted = fate.maybeExecuted;
  }

  /** The same call again cannot do it twice. */
  get safeToRetry(): boolean {
    return !this.maybeExecuted;
  }
}

/** The server answered with an error: to a request (kind `reply`), or to the log-in while connecting (kind `log_in`). */
export class ReplyError extends HandlerSocketError {
  /** The reply's first token: 1 for the table or the row, 2 for the request, 3 for the log-in. */
  readonly code: number;
  /** A word, or a number in decimal. */
  readonly text: string;
  /** With the option `texts` SQL's number. Otherwise the text, if it is a number: below 1000 the storage engine's, from there on SQL's. */
  readonly number: number | null;
  /** The class of errors to which it belongs, such as `duplicate` or `lock`. */
  readonly reason: ServerErrorKind;
  /** A name such as `duplicate_key`; null for an error that this client does not know. */
  readonly errorName: string | null;
  /** `no`: the same request gets the same answer; `later`: it may succeed after a moment; `elsewhere`: on another server. */
  readonly retry: ServerErrorRetry;
  readonly sqlState: string | null;
  /** The request of a group that has failed, from 1 on; 0 if it is none, or the group as a whole. */
  readonly line: number;
  // Private, so that nothing which shows the fields of an error shows it.
  readonly #serverMessage: string | null;

  constructor(kind: 'reply' | 'log_in', code: number, text: string, modifies: boolean, line = 0, told?: Told, place = '') {
    const known = SERVER_ERRORS.get(text);
    const where = line === 0 ? '' : `request ${line} of the group: `;
    super(kind, `${where}${known?.words ?? 'the server answered an error'} (${code} ${text})${place === '' ? '' : `: ${place}`}`, {
      sent: kind === 'reply',
      maybeExecuted: kind === 'reply' && modifies && known?.maybeExecuted === true,
    });
    this.name = 'ReplyError';
    this.code = code;
    this.text = text;
    this.number = told?.number ?? (/^\d+$/.test(text) ? Number(text) : null);
    this.reason = known?.kind ?? (code === 2 ? 'request' : code === 3 ? 'log_in' : 'server');
    this.errorName = known?.name ?? null;
    this.retry = known?.retry ?? 'no';
    this.sqlState = told?.sqlState ?? known?.sqlState ?? null;
    this.line = line;
    this.#serverMessage = told?.message ?? null;
  }

  /**
   * With the option `texts`, what the server says, such as `Duplicate entry '7' for key 'PRIMARY'`. It may hold values of a row, so it
   * is neither in `message` nor in what a logger makes of the error. Null if the server said nothing.
   */
  get serverMessage(): string | null {
    return this.#serverMessage;
  }

  /** A condition of a group was not met: no row where there must be one, or one where there must be none. */
  get isUnmet(): boolean {
    return this.text === 'unmet';
  }
}

/** The call cannot be meant. Nothing was sent. */
export function usage(message: string): HandlerSocketError {
  return new HandlerSocketError('usage', message);
}

/** Bytes that are no reply to the request. It is no error of a call yet: the connection makes one for each. */
export class WrongReply extends Error {}

/** A value that does not fit the type that the caller wants. */
export class WrongValue extends Error {}
