-- ARGV: now, how many at most, before which instant ends are no longer remembered. Removes waiting tickets whose lease
-- has ended and answers whose they were. A claimed ticket is left to the end of its claim.
redis.call('ZREMRANGEBYSCORE', GONE, '-inf', '(' .. ARGV[3])
local expired = {}
for _, player in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])) do
  if redis.call('HEXISTS', CLAIMED, player) == 0 then
    local _, pool, mu, joined = held(player)
    if pool then note_end(pool, mu, joined, ARGV[1]) end
    forget(player, pool)
    table.insert(expired, player)
  end
end
return expired
