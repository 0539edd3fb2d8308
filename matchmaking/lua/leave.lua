-- ARGV: player, pool or '' for any, now. Answers 'none'; 'left' and the pool; or 'claimed' and the claim that holds the ticket, which
-- will not come back from it, but may be on its way to a game; asking again tells the same until the claim has ended.
local player, wanted, now = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', TICKETS, player) == 0 then
  local held_by = redis.call('HGET', LEAVING, player)
  if held_by and redis.call('HEXISTS', CLAIMS, held_by) == 1 then return {'claimed', held_by} end
  return {'none', ''}
end
local _, pool, mu, joined = held(player)
if wanted ~= '' and pool and pool ~= wanted then return {'none', ''} end
local claim = redis.call('HGET', CLAIMED, player)
finish(player, pool, now)
if claim then
  redis.call('HSET', LEAVING, player, claim)
  return {'claimed', claim}
end
if pool then note_end(pool, mu, joined, now) end
return {'left', pool or ''}
