// A range of an index, which stands in the place of a key.
import { usage } from './errors.js';

/** The ends of a range, or a prefix in their place. null is NULL; what is undefined is no end. */
export interface RangeOptions<K, V> {
  /** Values of the first parts of the index; the ends belong to the part behind them. */
  readonly key?: K | undefined;
  readonly gt?: V | undefined;
  readonly ge?: V | undefined;
  readonly lt?: V | undefined;
  readonly le?: V | undefined;
  /** What the texts begin with. */
  readonly prefix?: V | undefined;
  /** Towards smaller values. */
  readonly down?: boolean | undefined;
}

/** Made by `range`. */
export class Range<K = unknown, V = unknown> {
  /** @internal */
  constructor(readonly options: RangeOptions<K, V>) {}

  /** @internal The operators of its ends with their values. */
  ends(): [op: string, value: unknown][] {
    const { gt, ge, lt, le, prefix } = this.options;
    if ((gt !== undefined && ge !== undefined) || (lt !== undefined && le !== undefined)) {
      throw usage('a range has one end on each side');
    }
    const all: [string, unknown][] = [
      ['>', gt],
      ['>=', ge],
      ['<', lt],
      ['<=', le],
      ['^', prefix],
    ];
    const given = all.filter(([, value]) => value !== undefined);
    if (prefix !== undefined && given.length > 1) throw usage('a range has a prefix or ends, and not both');
    return given;
  }
}

/** The rows between two ends, or those that begin with a prefix; without both the whole index. It goes up, or `down`. */
export function range<K = never, V = never>(options: RangeOptions<K, V> = {}): Range<K, V> {
  return new Range(options);
}
