# frozen_string_literal: true

# An application's work by redis-rb, as published. Prints what each step has answered, as JSON.
#
# Its arguments: the client, the port, an account, its password, and the file of the authority for TLS.
require 'json'
require 'redis'

_, PORT, USER, PASSWORD, AUTHORITY = ARGV
CALLERS = 20
TURNS = 50
KEY = 'app.employee:1'

def connected(**options)
  tls = options.delete(:tls)
  options[:ssl] = true if tls
  options[:ssl_params] = { ca_file: AUTHORITY } if tls
  Redis.new(host: '127.0.0.1', port: PORT.to_i, reconnect_attempts: 0, **options)
end

def tell(step, value)
  puts JSON.generate([step, value])
end

def answer
  yield
rescue Redis::BaseError => e
  "error: #{e.message}"
end

def step(name, &call)
  tell(name, answer(&call))
end

# A name is read and a salary is raised, so many times.
def read_and_raise(batch, times)
  times.times do
    batch.hget('app.employee:2', 'name')
    batch.hincrby('app.employee:2', 'salary', 1)
  end
end

def many_callers
  threads = Array.new(CALLERS) do
    Thread.new do
      own = connected
      TURNS.times { own.hincrby('app.employee:3', 'salary', 1) }
      own.close
    end
  end
  threads.each(&:join)
end

client = connected
step('ping') { client.ping == 'PONG' }
step('read all') { client.hgetall(KEY) }
step('read one') { client.hget(KEY, 'name') }
step('read NULL') { client.hget(KEY, 'photo') }
step('read some') { client.hmget(KEY, 'name', 'photo', 'salary') }
step('read nothing') { client.hgetall('app.employee:99') }
step('insert') { client.hset('app.employee:10', 'name', 'Eve', 'salary', '5') }
step('update') { client.hset('app.employee:10', 'name', 'Eva') }
step('set bytes') { client.hset(KEY, 'photo', (0..255).to_a.pack('C*')) }
step('read bytes') { client.hget(KEY, 'photo').unpack1('H*') }
step('add') { client.hincrby(KEY, 'salary', 50) }
step('delete a field') { client.hdel(KEY, 'photo') }
step('exists') { client.exists(KEY, 'app.employee:99') }
step('delete') { client.del('app.employee:10', 'app.employee:99') }
step('wrong type') { client.hincrby(KEY, 'name', 1) }
step('pipeline') { client.pipelined { |batch| read_and_raise(batch, 20) } }
step('unit') { client.multi { |batch| read_and_raise(batch, 1) } }
failed = answer do
  client.multi do |batch|
    batch.hset(KEY, 'name', 'x')
    batch.hset(KEY, 'name', 'x' * 50)
  end
end
tell('unit that fails', failed.to_s.include?('1406'))
step('after it') { client.hget(KEY, 'name') }
step('scan') { client.scan_each(match: 'app.employee:*', count: 1).to_a }
many_callers
step('many callers') { client.hget('app.employee:3', 'salary') }

{ 'log in' => false, 'log in by TLS' => true }.each do |name, tls|
  other = connected(username: USER, password: PASSWORD, tls: tls, id: 'app')
  step(name) { other.hget('app.employee:2', 'name') }
  step("#{name}, what is not allowed") { other.hget('app.secret:1', 'v') }
end
# A wrong password is answered after a second, which is all the patience that redis-rb 5 has by default.
told = answer { connected(username: USER, password: 'wrong', timeout: 20).hget(KEY, 'name') }
tell('wrong password', told.to_s.include?('WRONGPASS'))

# Somebody holds the row meanwhile. Who has lost its patience connects again, and has more of it.
hasty = connected(read_timeout: 0.3)
told = begin
  hasty.hincrby('app.locked:1', 'v', 1)
rescue Redis::TimeoutError
  'a time-out'
end
tell('time-out', told == 'a time-out')
patient = connected
step('after a time-out') { patient.hget(KEY, 'name') }
