// The Node.js client's part of the clients' soak: callers that know what their rows have to be.
// tests/client_soak/README.md says what the program does.
//
//   node soak.mjs URL SEED CALLERS
import { Client } from 'handlersocket2';
import { Caller } from './caller.mjs';

// How often the program says that it is alive, in milliseconds.
const PULSE = 1000;

const [url, seed, count] = process.argv.slice(2);
const client = new Client(url);
const callers = Array.from({ length: Number(count) }, (_, number) => new Caller(client, seed, number, wrong));
let isOver = false;

/** Says what is not as it must be, and ends the program. */
function wrong(words) {
  process.stdout.write(`wrong ${words}\n`);
  process.exit(1);
}

function sum(numberOf) {
  return callers.reduce((all, caller) => all + numberOf(caller), 0);
}

function report() {
  const errors = {};
  for (const caller of callers) {
    for (const [kind, times] of caller.errors) errors[kind] = (errors[kind] ?? 0) + times;
  }
  return {
    calls: sum(({ calls }) => calls),
    errors,
    unsure: sum(({ maybeExecuted }) => maybeExecuted),
    connections_lost: client.counters.connectionsLost,
    rows: callers.flatMap(({ ledger }) => ledger.rows()),
    log: callers.map(({ ledger }) => ledger.log()),
    joint: callers.flatMap(({ ledger }) => ledger.joint()),
  };
}

// An error that no caller gets is one of the client's, too.
process.on('uncaughtException', (error) => wrong(JSON.stringify(`nobody caught ${error?.stack}`)));
process.stdin.on('end', () => (isOver = true)).resume();
const pulse = setInterval(() => process.stdout.write(`alive ${sum(({ calls }) => calls)}\n`), PULSE);
await Promise.all(callers.map((caller) => caller.work(() => isOver)));
clearInterval(pulse);
const line = JSON.stringify(report());
await client.close();
process.stdout.write(`report ${line}\n`);
