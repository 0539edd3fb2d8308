-- ARGV: pool, mu, span, how many on each side. Answers players and their records, the nearest ratings.
local key, mu, span, count = waiting(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local above = redis.call('ZRANGEBYSCORE', key, ARGV[2], string.format('%.17g', mu + span), 'LIMIT', 0, count)
local below = redis.call('ZREVRANGEBYSCORE', key, '(' .. ARGV[2], string.format('%.17g', mu - span), 'LIMIT', 0, count)
local found = {}
for _, players in ipairs({above, below}) do
  for _, player in ipairs(players) do
    table.insert(found, player)
    table.insert(found, redis.call('HGET', TICKETS, player) or '')
  end
end
return found
