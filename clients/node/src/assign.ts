// What becomes of a column, where that is more than a value: the server computes it from what the column holds.
import { usage } from './errors.js';
import { valueToken } from './tokens.js';
import type { Value } from './tokens.js';

/** Made by `assign`. It stands in the place of a value in an update, or in the changes of an upsert. */
export class Assignment {
  /** @internal */
  constructor(
    readonly how: string,
    readonly values: readonly unknown[],
  ) {}
}

/** The lowest and the highest result; one may be missing. What is beyond becomes the bound. */
export interface Bounds {
  readonly low?: Value | Date | null | undefined;
  readonly high?: Value | Date | null | undefined;
}

function within(how: string, amount: Value, bounds: Bounds | undefined): Assignment {
  const { low = null, high = null } = bounds ?? {};
  return low === null && high === null ? new Assignment(how, [amount]) : new Assignment(`${how}[`, [amount, low, high]);
}

/** A column that is NULL stays so, but for `default`, `now` and `inserted`. */
export const assign = {
  /** The column's default. */
  default: (): Assignment => new Assignment('default', ['']),
  /** The server's current time. */
  now: (): Assignment => new Assignment('now', ['']),
  /** In an upsert: what the new row would have had. */
  inserted: (): Assignment => new Assignment('new', ['']),
  add: (amount: Value, bounds?: Bounds): Assignment => within('+', amount, bounds),
  /** It may cross zero. */
  subtract: (amount: Value, bounds?: Bounds): Assignment => within('-', amount, bounds),
  /** Text or bytes behind the column's. */
  append: (text: Value): Assignment => new Assignment('append', [text]),
  /** Text or bytes in front of the column's. */
  prepend: (text: Value): Assignment => new Assignment('prepend', [text]),
  /** The greater of the two. */
  max: (value: Value | Date): Assignment => new Assignment('max', [value]),
  /** The less of the two. */
  min: (value: Value | Date): Assignment => new Assignment('min', [value]),
  bitAnd: (bits: Value): Assignment => new Assignment('&', [bits]),
  bitOr: (bits: Value): Assignment => new Assignment('|', [bits]),
  bitXor: (bits: Value): Assignment => new Assignment('^', [bits]),
} as const;

/** Their value is one of the column. Those of the others are amounts, texts or bits. */
const LIKE_COLUMN: ReadonlySet<string> = new Set(['max', 'min']);

/** The tokens behind the number of a column. */
export function assignmentTokens(value: unknown, write: (value: unknown) => string, ofUpsert: boolean): string {
  if (!(value instanceof Assignment)) return `=\t${write(value)}`;
  if (value.how === 'new' && !ofUpsert) throw usage('only an upsert has a new row: assign.inserted() belongs there');
  const [first, ...bounds] = value.values;
  const token = LIKE_COLUMN.has(value.how) ? write(first) : valueToken(first);
  return [value.how, token, ...bounds.map(write)].join('\t');
}
