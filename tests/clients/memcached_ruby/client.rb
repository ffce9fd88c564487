# frozen_string_literal: true

# An application's work by Dalli, as published. Prints what each step has answered, as JSON.
#
# Its arguments: the client, the port; and, unless it is a memcached, an account, its password, and the file of the
# authority for TLS.
require 'dalli'
require 'json'
require 'logger'
require 'securerandom'

HOW, PORT, USER, PASSWORD, AUTHORITY = ARGV
CALLERS = 4
TURNS = 25

def connected(**options)
  options[:protocol] = :meta if HOW.include?('meta')
  Dalli::Client.new("127.0.0.1:#{PORT}", socket_timeout: 20, **options)
end

def tell(step, value)
  puts JSON.generate([step, value])
end

# What Dalli cannot reach is no server to it; its log has the reason.
def answer
  yield
rescue Dalli::DalliError => e
  "error: #{e.message}"
end

# Dalli answers the cas of what it has stored, or nothing of the kind.
def stored(answer)
  answer == true || (answer.is_a?(Integer) && answer.positive?)
end

Dalli.logger = Logger.new(File::NULL)
client = connected
tell('nothing', client.get('none').nil?)
tell('set', stored(client.set('text', 'Grüße', 100)))
tell('get', client.get('text'))
client.set('object', { 'a' => [1, nil], b: 1.5 }, 100)
tell('an object', client.get('object') == { 'a' => [1, nil], b: 1.5 })
bytes = (0..255).to_a.pack('C*')
client.set('bytes', bytes, 100, raw: true)
tell('bytes', client.get('bytes', raw: true).b == bytes)
# With meta commands Dalli 3.2 cannot read a large value that it has compressed, from memcached neither.
client.set('large', SecureRandom.hex(450_000), 100, compress: !HOW.include?('meta'))
tell('a large one', client.get('large').size)
tell('add', [stored(client.add('text', 'other', 100)), stored(client.add('new', 'x', 100))])
tell('replace', [stored(client.replace('text', 'b', 100)), stored(client.replace('none', 'b', 100))])
client.set('text', 'b', 100, raw: true)
client.prepend('text', 'a')
client.append('text', 'c')
tell('append and prepend', client.get('text', raw: true))
client.set('text', 'b', 100)
seen = client.get_cas('text')
won = stored(client.set_cas('text', 'won', seen[1], 100))
lost = stored(client.set_cas('text', 'lost', seen[1], 100))
tell('cas', [won, lost, client.get('text')])
client.set('counter', '0', 100, raw: true)
tell('count', [client.incr('counter', 7), client.decr('counter', 9)])
many = (0...150).to_h { |number| ["many#{number}", "value #{number}"] }
client.multi { many.each { |key, value| client.set(key, value, 100) } }
tell('get many', client.get_multi(*many.keys, 'none') == many)
tell('delete', [client.delete('text') == true, client.delete('text') == true])
# An item of one second lives until the next second begins, which may be before it is touched.
client.set('short', 'x', 1)
client.set('long', 'x', 2)
tell('touch', client.touch('long', 100) ? true : false)
sleep(2)
tell('expired', [client.get('short').nil?, client.get('long')])
threads = Array.new(CALLERS) do
  Thread.new do
    own = connected
    TURNS.times { own.incr('counter') }
    own.close
  end
end
threads.each(&:join)
tell('many callers', client.get('counter', raw: true).to_i)
exit unless USER

unless HOW.include?('meta')
  other = connected(username: USER, password: PASSWORD)
  tell('log in', other.get('long'))
  tell('log in, what is not allowed', answer { other.set('long', 'y', 100) })
  wrong = connected(username: USER, password: 'wrong')
  tell('wrong password', answer { wrong.get('long') }.to_s.start_with?('error: '))
end
context = OpenSSL::SSL::SSLContext.new
context.ca_file = AUTHORITY
context.verify_mode = OpenSSL::SSL::VERIFY_PEER
tell('TLS', connected(ssl_context: context).get('long'))
# Somebody holds this item meanwhile. Who has lost its patience connects again.
hasty = connected(socket_timeout: 0.3, socket_max_failures: 0)
tell('time-out', answer { hasty.incr('locked') }.to_s.start_with?('error: '))
tell('after a time-out', connected.get('long'))
