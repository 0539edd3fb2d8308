-- ARGV: now, grace, how many players at most, what is forgotten. Answers whether there is more to do, and who went
-- offline.
local now, left, gone = tonumber(ARGV[1]), tonumber(ARGV[3]), {}
for _, process in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now)) do
  local lease = redis.call('ZSCORE', LEASES, process)
  for _, player in ipairs(redis.call('SRANDMEMBER', players_of(process), left)) do
    part(process, player, lease, lease + ARGV[2])
    left = left - 1
  end
  if redis.call('SCARD', players_of(process)) > 0 then break end
  redis.call('ZREM', LEASES, process)
end
local due = redis.call('ZRANGEBYSCORE', DUE, '-inf', now, 'LIMIT', 0, ARGV[3])
for _, player in ipairs(due) do
  redis.call('ZREM', DUE, player)
  if not held_until(player) and redis.call('SREM', SHOWN, player) == 1 then table.insert(gone, player) end
end
redis.call('ZREMRANGEBYSCORE', LEFT, '-inf', ARGV[4])
return {(left <= 0 or #due == tonumber(ARGV[3])) and 1 or 0, gone}
