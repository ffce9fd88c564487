// An error of the server ends with the names of what the call was about, and has no value of a row.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Client, ReplyError } from '../src/index.js';
import { PlayedPort, Signals } from './played-server.js';

const INDEX = { database: 'app', table: 'user', index: 'by_name', columns: ['id', 'nmae'], filterColumns: ['age'] } as const;
const ASKED = 'P\t1\tapp\tuser\tby_name\tid,nmae\tage\n1\t=\t1\tSECRET\n';
const GROUP = 'P\t1\tdb\tt\tPRIMARY\ta\nP\t2\tapp\tuser\tby_name\tid,nmae\tage\nG\t2\n1\t=\t1\tSECRET\n2\t=\t1\tSECRET\n';
const CLOSED = '2\t1\tstmtnum\n';
const PLACE = ': app.user, index by_name';
const COLUMNS = `${PLACE}, columns id, nmae, filter columns age`;

const get = (client: Client) => client.index(INDEX).findOne('SECRET');
const iterate = (client: Client) => client.index(INDEX).iterate('SECRET').next();
const group = (client: Client) =>
  client.group((on) => [
    on(client.index({ database: 'db', table: 't', columns: ['a'] })).findOne('SECRET'),
    on(client.index(INDEX)).findOne('SECRET'),
  ]);

const CASES: [string, string, string, (client: Client) => Promise<unknown>, string][] = [
  ['a column', ASKED, `2\t1\tfld\n${CLOSED}`, get, `no such column (2 fld)${COLUMNS}`],
  ['a table', ASKED, `1\t1\topen_table\n${CLOSED}`, get, `(1 open_table)${PLACE}`],
  ['an index', ASKED, `2\t1\tidxnum\n${CLOSED}`, get, `no such index (2 idxnum)${PLACE}`],
  ['a request', ASKED, '0\t1\n2\t1\tkpnum\n', get, `(2 kpnum)${PLACE}`],
  ['a column, iterating', ASKED, `2\t1\tfld\n${CLOSED}`, iterate, `no such column (2 fld)${COLUMNS}`],
  ['a request, iterating', ASKED, '0\t1\n2\t1\tkpnum\n', iterate, `(2 kpnum)${PLACE}`],
  ['a line of a group', GROUP, '0\t1\n0\t1\n1\t1\tundone\t2\n1\t1\tundone\n1\t1\t1213\n', group, `(1 1213)${PLACE}`],
  ['a P of a group', GROUP, `0\t1\n2\t1\tfld\n1\t1\tundone\t2\n1\t1\tundone\n${CLOSED}`, group, `(2 fld)${COLUMNS}`],
  ['a group as a whole', GROUP, '0\t1\n0\t1\n1\t1\t1213\n1\t1\tundone\n1\t1\tundone\n', group, '(1 1213)'],
  ['an error nobody knows', ASKED, '0\t1\n1\t1\t59999\n', get, `(1 59999)${PLACE}`],
  [
    'a list',
    'L\tapp\tuser\n',
    '1\t1\topen_table\n',
    (client) => client.indexes({ database: 'app', table: 'user' }),
    '(1 open_table): app.user',
  ],
  ['a list of tables', 'L\tapp\n', '1\t1\t1142\n', (client) => client.tables('app'), '(1 1142)'],
];

suite('an error of the server', () => {
  for (const [name, expect, send, call, ending] of CASES) {
    test(`about ${name}`, async () => {
      const port = new PlayedPort([[{ expect }, { send }]], -1, new Signals());
      await port.listen();
      const client = new Client({ port: port.port, portWr: port.port, timeout: 5000 });
      try {
        await assert.rejects(call(client), (error) => {
          assert.ok(error instanceof ReplyError, String(error));
          assert.ok(error.message.endsWith(ending), error.message);
          assert.ok(!error.message.includes('SECRET'), error.message);
          return true;
        });
        await port.finish();
      } finally {
        await client.close();
        port.close();
      }
    });
  }
});
