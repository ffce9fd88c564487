// What tests of a whole client begin with.
import { Client } from '../src/index.js';
import type { HandlerSocketError, Options } from '../src/index.js';
import { serving } from './answering-server.js';
import type { Answer, AnsweringServer } from './answering-server.js';

const COLUMNS = { id: 'number', text: 'string' } as const;

export const rowsOf = (client: Client) => client.index({ database: 'db', table: 't', columns: COLUMNS });

/** Runs with a server, and a client that has only this one. */
export async function using(
  answer: Answer,
  options: Options,
  use: (client: Client, server: AnsweringServer, rows: ReturnType<typeof rowsOf>, port: number) => Promise<void>,
): Promise<void> {
  await serving(answer, async (server, port) => {
    const client = new Client({ port, portWr: port, backoffMin: 1, backoffMax: 10, timeout: 5000, ...options });
    try {
      await use(client, server, rowsOf(client), port);
    } finally {
      await client.close();
    }
  });
}

export const row = (id: number): { id: number; text: string } => ({ id, text: `text ${id}` });
export const kindOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fulfilled',
    (error: HandlerSocketError) => error.kind,
  );
/** Answers nothing but P. */
export const silent: Answer = () => undefined;
