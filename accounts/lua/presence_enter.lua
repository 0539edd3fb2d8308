-- ARGV: process, lease's end, players … Answers those who come online by it.
local process, came = ARGV[1], {}
redis.call('ZADD', LEASES, ARGV[2], process)
for i = 3, #ARGV do
  local player = ARGV[i]
  redis.call('SADD', players_of(process), player)
  redis.call('SADD', processes_of(player), process)
  redis.call('ZREM', DUE, player)
  redis.call('ZREM', LEFT, player)
  if redis.call('SADD', SHOWN, player) == 1 then table.insert(came, player) end
end
return came
