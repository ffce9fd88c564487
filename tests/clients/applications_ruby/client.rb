# frozen_string_literal: true

# A cache of Rails (ActiveSupport), as its users write it. Prints what each step has answered, as JSON.
#
# Its arguments: which store, and the port of Redis's or memcached's clients.
require 'active_support'
require 'active_support/core_ext/numeric/time'
require 'active_support/notifications'
require 'active_support/cache'
require 'json'

WHICH, PORT = ARGV

def tell(step, value)
  puts JSON.generate([step, value])
end

cache =
  if WHICH.include?('Redis')
    ActiveSupport::Cache.lookup_store(
      :redis_cache_store, url: "redis://127.0.0.1:#{PORT}", namespace: 'app',
                          error_handler: ->(method:, returning:, exception:) { warn "#{method} #{returning} #{exception}" }
    )
  else
    ActiveSupport::Cache.lookup_store(:mem_cache_store, "127.0.0.1:#{PORT}", namespace: 'app')
  end
value = { name: 'Grüße', rows: [1, nil, 2.5], bytes: (0..255).to_a.pack('C*'), large: 'x' * 100_000 }
tell('write', cache.write('views/users/42', value, expires_in: 100.seconds) ? true : false)
tell('get', cache.read('views/users/42') == value)
tell('get nothing', cache.read('none'))
tell('fetch', [cache.fetch('made', expires_in: 100) { 7 }, cache.fetch('made') { 8 }])
tell('unless exist', [cache.write('made', 9, unless_exist: true), cache.read('made')])
tell('exist', [cache.exist?('made'), cache.exist?('none')])
cache.write('counter', 10, raw: true, expires_in: 100)
tell('count', [cache.increment('counter', 5), cache.decrement('counter', 3), cache.read('counter', raw: true).to_i])
many = (0...100).to_h { |number| ["many#{number}", [number]] }
cache.write_multi(many, expires_in: 100)
tell('get many', cache.read_multi(*many.keys, 'none') == many)
tell('fetch many', cache.fetch_multi('many1', 'other') { |key| key * 2 })
tell('delete', [cache.delete('made') ? true : false, cache.exist?('made')])
if WHICH.include?('Redis')
  cache.delete_matched('many*')
  tell('delete matched', cache.read_multi(*many.keys))
end
cache.write('short', 1, expires_in: 1)
sleep(2)
tell('expired', cache.read('short'))
