-- ARGV: claim, now, then player and ticket … of the tickets that are no longer wanted. The claim's other tickets wait
-- again, unless their player has left meanwhile. Answers who waits again. Doing it twice changes nothing.
local claim, now = ARGV[1], ARGV[2]
for i = 3, #ARGV, 2 do
  local id, pool = held(ARGV[i])
  if id == ARGV[i + 1] then finish(ARGV[i], pool, now) end
end
local record = redis.call('HGET', CLAIMS, claim)
redis.call('HDEL', CLAIMS, claim)
redis.call('ZREM', CLAIM_LEASES, claim)
local returned = {}
if not record then return returned end
for player, ticket in string.gmatch(record, '(%d+):(%w+)') do
  if redis.call('HGET', LEAVING, player) == claim then redis.call('HDEL', LEAVING, player) end
  if redis.call('HGET', CLAIMED, player) == claim then
    redis.call('HDEL', CLAIMED, player)
    local id, pool, mu = held(player)
    if id == ticket then
      redis.call('ZADD', waiting(pool), mu, player)
      table.insert(returned, player)
    end
  end
end
return returned
