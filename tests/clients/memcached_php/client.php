<?php
// An application's work by php-memcached, as published. Prints what each step has answered, as JSON.
//
// Its arguments: the client, the port; and, unless it is a memcached, an account and its password.
declare(strict_types=1);

[, $how, $port] = $argv;
const CALLERS = 4;
const TURNS = 25;

function connected(?string $user = null, ?string $password = null): Memcached
{
    global $how, $port;
    $client = new Memcached();
    $client->setOption(Memcached::OPT_BINARY_PROTOCOL, str_contains($how, 'binary'));
    if ($user !== null) {
        $client->setSaslAuthData($user, $password);
    }
    $client->addServer('127.0.0.1', (int) $port);
    return $client;
}

function tell(string $step, mixed $value): void
{
    echo json_encode([$step, $value], JSON_THROW_ON_ERROR), "\n";
}

function manyCallers(): void
{
    $children = [];
    for ($i = 0; $i < CALLERS; $i++) {
        $child = pcntl_fork();
        if ($child === 0) {
            $own = connected();
            for ($turn = 0; $turn < TURNS; $turn++) {
                $own->increment('counter');
            }
            exit(0);
        }
        $children[] = $child;
    }
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
    }
}

$client = connected();
tell('nothing', $client->get('none') === false && $client->getResultCode() === Memcached::RES_NOTFOUND);
tell('set', $client->set('text', 'Grüße', 100));
tell('get', $client->get('text'));
$client->set('object', ['a' => [1, null]], 100);
tell('an object', $client->get('object') === ['a' => [1, null]]);
$bytes = implode('', array_map('chr', range(0, 255)));
$client->set('bytes', $bytes, 100);
tell('bytes', $client->get('bytes') === $bytes);
$client->set('large', bin2hex(random_bytes(450000)), 100);
tell('a large one', strlen($client->get('large')));
tell('add', [$client->add('text', 'other', 100), $client->add('new', 'x', 100)]);
tell('replace', [$client->replace('text', 'b', 100), $client->replace('none', 'b', 100)]);
// What is appended to must not be compressed.
$client->setOption(Memcached::OPT_COMPRESSION, false);
$client->prepend('text', 'a');
$client->append('text', 'c');
tell('append and prepend', $client->get('text'));
$found = $client->get('text', null, Memcached::GET_EXTENDED);
tell('cas', [
    $client->cas($found['cas'], 'text', 'won', 100),
    $client->cas($found['cas'], 'text', 'lost', 100),
    $client->get('text'),
]);
$client->set('counter', 0, 100);
tell('count', [$client->increment('counter', 7), $client->decrement('counter', 9)]);
$many = [];
for ($i = 0; $i < 150; $i++) {
    $many["many$i"] = "value $i";
}
$client->setMulti($many, 100);
tell('get many', $client->getMulti([...array_keys($many), 'none']) === $many);
tell('delete', [$client->delete('text'), $client->delete('text')]);
// An item of one second lives until the next second begins, which may be before it is touched.
$client->set('short', 'x', 1);
$client->set('long', 'x', 2);
tell('touch', $client->touch('long', 100));
sleep(2);
tell('expired', [$client->get('short') === false, $client->get('long')]);
// Else each child's end would take leave on this connection.
$client->quit();
manyCallers();
tell('many callers', (int) $client->get('counter'));
if (isset($argv[3]) && str_contains($how, 'binary')) {
    [, , , $user, $password] = $argv;
    $other = connected($user, $password);
    tell('log in', $other->get('long'));
    tell('log in, what is not allowed', $other->set('long', 'y', 100));
    $wrong = connected($user, 'wrong');
    tell('wrong password', $wrong->get('long') === false && $wrong->getResultCode() !== Memcached::RES_NOTFOUND);
}
if (isset($argv[3])) {
    // Somebody holds this item meanwhile. Who has lost its patience connects again, and has more of it.
    $hasty = connected();
    $hasty->setOption(Memcached::OPT_POLL_TIMEOUT, 300);
    $hasty->increment('locked');
    $told = $hasty->getResultCode();
    tell('time-out', $told === Memcached::RES_TIMEOUT || $told === Memcached::RES_SERVER_TEMPORARILY_DISABLED);
    tell('after a time-out', connected()->get('long'));
}
