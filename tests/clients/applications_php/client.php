<?php
// A page with a session, as PHP keeps it by itself. Prints what it has seen, as JSON.
//
// Its arguments: the handler of sessions, its port, the id of the session, and what to do.
declare(strict_types=1);

[, $handler, $port, $id, $what] = $argv;
ini_set('session.save_handler', $handler);
ini_set('session.save_path', $handler === 'redis' ? "tcp://127.0.0.1:$port" : "127.0.0.1:$port");
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
ini_set('session.gc_maxlifetime', '100');
// Who comes while another page has the session waits for it.
ini_set('memcached.sess_lock_retries', '100');

function page(callable $work): mixed
{
    global $id;
    session_id($id);
    if (!session_start()) {
        throw new Exception('no session');
    }
    $seen = $work();
    return $seen;
}

$seen = match ($what) {
    'begin' => page(function () {
        $_SESSION = ['user' => ['id' => 42, 'name' => 'Grüße'], 'count' => 0];
        return session_write_close();
    }),
    'read' => page(fn() => $_SESSION),
    // Each page reads, works and writes.
    'count' => array_map(fn() => page(function () {
        $count = ++$_SESSION['count'];
        usleep(2000);
        session_write_close();
        return $count;
    }), range(1, 10)),
    'end' => page(fn() => session_destroy()),
};
echo json_encode($seen, JSON_THROW_ON_ERROR), "\n";
