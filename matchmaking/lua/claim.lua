-- ARGV: claim, pool, now, claim's end, then player and ticket … Takes all of them and answers 1, or none and answers 0.
local claim, wanted, now, claim_until = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('HEXISTS', CLAIMS, claim) == 1 then return 0 end
for i = 5, #ARGV, 2 do
  local id, pool = held(ARGV[i])
  if id ~= ARGV[i + 1] or pool ~= wanted then return 0 end
  if not redis.call('ZSCORE', waiting(pool), ARGV[i]) then return 0 end
  local lease = redis.call('ZSCORE', LEASES, ARGV[i])
  if not lease or tonumber(lease) <= tonumber(now) then return 0 end
end
local taken = {}
for i = 5, #ARGV, 2 do
  redis.call('ZREM', waiting(wanted), ARGV[i])
  redis.call('HSET', CLAIMED, ARGV[i], claim)
  table.insert(taken, ARGV[i] .. ':' .. ARGV[i + 1])
end
redis.call('HSET', CLAIMS, claim, wanted .. '|' .. table.concat(taken, ','))
redis.call('ZADD', CLAIM_LEASES, claim_until, claim)
return 1
