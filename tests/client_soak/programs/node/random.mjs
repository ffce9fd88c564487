// Random numbers that depend on a text alone. Math.random() takes no seed.
import { createHash } from 'node:crypto';

export class Random {
  #state;

  constructor(text) {
    const digest = createHash('sha256').update(text).digest();
    this.#state = [0, 4, 8, 12].map((place) => digest.readUInt32LE(place));
  }

  /** A number from 0 to below `end`: the generator is sfc32. */
  below(end) {
    const [a, b, c, count] = this.#state;
    const drawn = (a + b + count) >>> 0;
    this.#state = [b ^ (b >>> 9), (c + (c << 3)) | 0, ((c << 21) | (c >>> 11)) + drawn, count + 1].map((part) => part >>> 0);
    return Math.floor((drawn / 2 ** 32) * end);
  }

  between(first, last) {
    return first + this.below(last - first + 1);
  }

  one(list) {
    return list[this.below(list.length)];
  }

  shuffled(list) {
    const left = [...list];
    return list.map(() => left.splice(this.below(left.length), 1)[0]);
  }
}
