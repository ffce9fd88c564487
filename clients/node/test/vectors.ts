// The test vectors that all clients read: JSON in which a string stands for bytes, one for each character.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Description } from '../src/index.js';

function folder(): string {
  for (let top = __dirname; top !== path.dirname(top); top = path.dirname(top)) {
    const candidate = path.join(top, 'tests', 'vectors');
    try {
      readFileSync(path.join(candidate, 'requests.json'));
      return candidate;
    } catch {
      // Further up.
    }
  }
  throw new Error('tests/vectors is not above this folder');
}

/** The vectors of a file. Numbers that a double cannot hold become bigints. */
export function vectors<T>(name: string): T[] {
  const text = readFileSync(path.join(folder(), `${name}.json`), 'utf8');
  const marked = text.replace(/([[:,]\s*)(\d{16,})(?=\s*[,\]}])/g, '$1"bigint:$2"');
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && /^bigint:\d+$/.test(value) ? BigInt(value.slice(7)) : value,
  ) as T[];
}

export function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** A value of a vector as a client gets or gives it. */
export function raw(value: string | null): Buffer | null {
  return value === null ? null : bytes(value);
}

/** What descriptions.json and scenarios.json say of an index. */
export interface DescribedVector {
  columns: object[];
  filter_columns: object[];
  key: object[];
}

/** The same of what the client gives. */
export function describedOf({ columns, filterColumns, key }: Description): DescribedVector {
  return { columns: [...columns], filter_columns: [...filterColumns], key: [...key] };
}
