<?php
// An application's work by phpredis, as published. Prints what each step has answered, as JSON.
//
// Its arguments: the client, the port, an account, its password, and the file of the authority for TLS.
declare(strict_types=1);

[, , $port, $user, $password, $authority] = $argv;
const CALLERS = 20;
const TURNS = 50;
const KEY = 'app.employee:1';

function connected(array $options = []): Redis
{
    global $port, $authority;
    $client = new Redis();
    $tls = $options['tls'] ?? false;
    $client->connect(
        ($tls ? 'tls://' : '') . '127.0.0.1',
        (int) $port,
        5.0,
        null,
        0,
        $options['read'] ?? 20.0,
        $tls ? ['stream' => ['cafile' => $authority]] : []
    );
    if (isset($options['user'])) {
        $client->auth([$options['user'], $options['password']]);
    }
    return $client;
}

function tell(string $step, mixed $value): void
{
    echo json_encode([$step, $value], JSON_THROW_ON_ERROR), "\n";
}

// What a call answers. false is phpredis's word for nil and, with a last error, for an error.
function answer(Redis $client, callable $call): mixed
{
    $client->clearLastError();
    try {
        $value = $call();
    } catch (RedisException $error) {
        return 'error: ' . $error->getMessage();
    }
    $error = $client->getLastError();
    return $error === null ? $value : "error: $error";
}

function orNull(mixed $value): mixed
{
    return $value === false ? null : $value;
}

// The names of a batch: a name is read and a salary is raised, so many times.
function readAndRaise(Redis $batch, int $times): array
{
    for ($i = 0; $i < $times; $i++) {
        $batch->hGet('app.employee:2', 'name');
        $batch->hIncrBy('app.employee:2', 'salary', 1);
    }
    return $batch->exec();
}

function scan(Redis $client, string $pattern): array
{
    $client->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
    $found = [];
    $cursor = null;
    while ($keys = $client->scan($cursor, $pattern, 1)) {
        array_push($found, ...$keys);
    }
    return $found;
}

function manyCallers(): void
{
    $children = [];
    for ($i = 0; $i < CALLERS; $i++) {
        $child = pcntl_fork();
        if ($child === 0) {
            $own = connected();
            for ($turn = 0; $turn < TURNS; $turn++) {
                $own->hIncrBy('app.employee:3', 'salary', 1);
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
$step = fn(string $name, callable $call) => tell($name, answer($client, $call));
$step('ping', fn() => $client->ping() === true);
$step('read all', fn() => $client->hGetAll(KEY));
$step('read one', fn() => $client->hGet(KEY, 'name'));
$step('read NULL', fn() => orNull($client->hGet(KEY, 'photo')));
$some = $client->hMGet(KEY, ['name', 'photo', 'salary']);
tell('read some', array_map('orNull', [$some['name'], $some['photo'], $some['salary']]));
$step('read nothing', fn() => (object) $client->hGetAll('app.employee:99'));
$step('insert', fn() => $client->rawCommand('HSET', 'app.employee:10', 'name', 'Eve', 'salary', '5'));
$step('update', fn() => $client->hSet('app.employee:10', 'name', 'Eva'));
$photo = implode('', array_map('chr', range(0, 255)));
$step('set bytes', fn() => $client->hSet(KEY, 'photo', $photo));
$step('read bytes', fn() => bin2hex($client->hGet(KEY, 'photo')));
$step('add', fn() => $client->hIncrBy(KEY, 'salary', 50));
$step('delete a field', fn() => $client->hDel(KEY, 'photo'));
$step('exists', fn() => $client->exists(KEY, 'app.employee:99'));
$step('delete', fn() => $client->del('app.employee:10', 'app.employee:99'));
$step('wrong type', fn() => $client->hIncrBy(KEY, 'name', 1));
$step('pipeline', fn() => readAndRaise($client->pipeline(), 20));
$step('unit', fn() => readAndRaise($client->multi(), 1));
// Where EXEC fails, phpredis 6 says no more than that. An older one waits for a reply to each command until its patience
// ends, with Redis, too.
$hasty = connected(['read' => 0.5]);
$failed = answer($hasty, fn() => $hasty->multi()
    ->hSet(KEY, 'name', 'x')
    ->hSet(KEY, 'name', str_repeat('x', 50))
    ->exec());
tell('unit that fails', $failed === false || $failed === 'error: Connection closed');
$step('after it', fn() => $client->hGet(KEY, 'name'));
$step('scan', fn() => scan($client, 'app.employee:*'));
manyCallers();
$step('many callers', fn() => $client->hGet('app.employee:3', 'salary'));

foreach (['log in' => false, 'log in by TLS' => true] as $name => $tls) {
    $other = connected(['user' => $user, 'password' => $password, 'tls' => $tls]);
    tell($name, answer($other, fn() => $other->hGet('app.employee:2', 'name')));
    tell("$name, what is not allowed", answer($other, fn() => $other->hGet('app.secret:1', 'v')));
}
$other = connected();
$told = answer($other, fn() => $other->auth([$user, 'wrong']));
tell('wrong password', str_contains((string) json_encode($told), 'WRONGPASS'));

// Somebody holds the row meanwhile. Who has lost its patience connects again, and has more of it.
$hasty = connected(['read' => 0.3]);
$told = answer($hasty, fn() => $hasty->hIncrBy('app.locked:1', 'v', 1));
tell('time-out', str_starts_with((string) json_encode($told), '"error: read error'));
$patient = connected();
tell('after a time-out', answer($patient, fn() => $patient->hGet(KEY, 'name')));
