//! An application's work by redis-rs, as published. Prints what each step has answered, as JSON.
//!
//! Its arguments: the client, the port, an account, its password, and the file of the authority for TLS.
use redis::{
    pipe, Client, Commands, Connection, ErrorKind, IntoConnectionInfo, Pipeline, ProtocolVersion,
    RedisConnectionInfo, RedisError, RedisResult, Value,
};
use serde_json::{json, Value as Json};
use std::collections::HashMap;
use std::env;
use std::thread;
use std::time::Duration;

const CALLERS: usize = 20;
const TURNS: usize = 50;
const KEY: &str = "app.employee:1";
const BOB: &str = "app.employee:2";

/// As whom one connects.
#[derive(Default)]
struct Who<'a> {
    log_in: Option<(&'a str, &'a str)>,
    tls: bool,
}

fn connected(who: &Who) -> RedisResult<Connection> {
    let arguments: Vec<String> = env::args().collect();
    let mut settings = RedisConnectionInfo::default();
    if arguments[1].contains("resp3") {
        settings = settings.set_protocol(ProtocolVersion::RESP3);
    }
    if let Some((user, password)) = who.log_in {
        settings = settings.set_username(user).set_password(password);
    }
    let scheme = if who.tls { "rediss" } else { "redis" };
    let place = format!("{scheme}://127.0.0.1:{}", arguments[2]).into_connection_info()?;
    Client::open(place.set_redis_settings(settings))?
        .get_connection_with_timeout(Duration::from_secs(20))
}

fn shown(value: Value) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Int(number) => json!(number),
        Value::BulkString(bytes) => json!(String::from_utf8_lossy(&bytes)),
        Value::SimpleString(text) => json!(text),
        Value::Array(values) => values.into_iter().map(shown).collect(),
        other => json!(format!("{other:?}")),
    }
}

fn tell(step: &str, answer: RedisResult<Json>) {
    let value = answer.unwrap_or_else(|error: RedisError| json!(format!("error: {error}")));
    println!("{}", json!([step, value]));
}

/// A name is read and a salary is raised, so many times.
fn read_and_raise(batch: &mut Pipeline, times: usize) -> &mut Pipeline {
    for _ in 0..times {
        batch.hget(BOB, "name").hincr(BOB, "salary", 1);
    }
    batch
}

/// Callers with a connection each.
fn many_callers() {
    let callers = (0..CALLERS).map(|_| {
        thread::spawn(|| {
            let mut own = connected(&Who::default()).unwrap();
            for _ in 0..TURNS {
                let _: i64 = own.hincr("app.employee:3", "salary", 1).unwrap();
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.join().unwrap();
    }
}

fn work(c: &mut Connection) {
    tell("ping", c.ping().map(|pong: String| json!(pong == "PONG")));
    tell(
        "read all",
        c.hgetall(KEY)
            .map(|row: HashMap<String, String>| json!(row)),
    );
    tell(
        "read one",
        c.hget(KEY, "name").map(|name: String| json!(name)),
    );
    tell(
        "read NULL",
        c.hget(KEY, "photo")
            .map(|photo: Option<String>| json!(photo)),
    );
    let some = c.hmget(KEY, &["name", "photo", "salary"]);
    tell("read some", some.map(|row: Vec<Option<String>>| json!(row)));
    let nothing = c.hgetall("app.employee:99");
    tell(
        "read nothing",
        nothing.map(|row: HashMap<String, String>| json!(row)),
    );
    let mut insert = redis::cmd("HSET");
    insert
        .arg("app.employee:10")
        .arg(&[("name", "Eve"), ("salary", "5")]);
    tell("insert", insert.query(c).map(|count: i64| json!(count)));
    tell(
        "update",
        c.hset("app.employee:10", "name", "Eva")
            .map(|count: i64| json!(count)),
    );
    let photo: Vec<u8> = (0..=255).collect();
    tell(
        "set bytes",
        c.hset(KEY, "photo", photo).map(|count: i64| json!(count)),
    );
    let hexadecimal =
        |bytes: Vec<u8>| json!(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>());
    tell("read bytes", c.hget(KEY, "photo").map(hexadecimal));
    tell(
        "add",
        c.hincr(KEY, "salary", 50).map(|salary: i64| json!(salary)),
    );
    tell(
        "delete a field",
        c.hdel(KEY, "photo").map(|count: i64| json!(count)),
    );
    tell(
        "exists",
        c.exists(&[KEY, "app.employee:99"])
            .map(|count: i64| json!(count)),
    );
    let gone = c.del(&["app.employee:10", "app.employee:99"]);
    tell("delete", gone.map(|count: i64| json!(count)));
    tell(
        "wrong type",
        c.hincr(KEY, "name", 1).map(|count: i64| json!(count)),
    );
    tell(
        "pipeline",
        read_and_raise(&mut pipe(), 20).query(c).map(shown),
    );
    tell(
        "unit",
        read_and_raise(pipe().atomic(), 1).query(c).map(shown),
    );
    let mut twice = pipe();
    twice
        .atomic()
        .hset(KEY, "name", "x")
        .hset(KEY, "name", "x".repeat(50));
    let failed: RedisResult<Value> = twice.query(c);
    // redis-rs says that EXEC has failed, and not why.
    tell("unit that fails", Ok(json!(failed.is_err())));
    tell(
        "after it",
        c.hget(KEY, "name").map(|name: String| json!(name)),
    );
    let mut scan = redis::cmd("SCAN");
    scan.cursor_arg(0)
        .arg("MATCH")
        .arg("app.employee:*")
        .arg("COUNT")
        .arg(1);
    let found = scan
        .iter(c)
        .and_then(|keys| keys.collect::<RedisResult<Vec<String>>>());
    tell("scan", found.map(|keys| json!(keys)));
    many_callers();
    tell(
        "many callers",
        c.hget("app.employee:3", "salary")
            .map(|salary: String| json!(salary)),
    );
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    // OpenSSL's own variable for whom to trust.
    env::set_var("SSL_CERT_FILE", &arguments[5]);
    work(&mut connected(&Who::default()).unwrap());
    let (user, password) = (&arguments[3][..], &arguments[4][..]);
    for (name, tls) in [("log in", false), ("log in by TLS", true)] {
        let mut other = connected(&Who {
            log_in: Some((user, password)),
            tls,
        })
        .unwrap();
        tell(
            name,
            other.hget(BOB, "name").map(|name: String| json!(name)),
        );
        let refused = other.hget("app.secret:1", "v");
        tell(
            &format!("{name}, what is not allowed"),
            refused.map(|v: String| json!(v)),
        );
    }
    let wrong = connected(&Who {
        log_in: Some((user, "wrong")),
        tls: false,
    });
    // With RESP2 the words of the refusal are lost.
    let is_refused = wrong.is_err_and(|error| {
        error.kind() == ErrorKind::AuthenticationFailed || error.code() == Some("WRONGPASS")
    });
    tell("wrong password", Ok(json!(is_refused)));

    // Somebody holds the row meanwhile. Who has lost its patience connects again.
    let mut hasty = connected(&Who::default()).unwrap();
    hasty
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let waited: RedisResult<i64> = hasty.hincr("app.locked:1", "v", 1);
    tell(
        "time-out",
        Ok(json!(waited.is_err_and(|error| error.is_timeout()))),
    );
    let mut next = connected(&Who::default()).unwrap();
    tell(
        "after a time-out",
        next.hget(KEY, "name").map(|name: String| json!(name)),
    );
}
