-- ARGV: player, record, lease's end. Answers 1 and the record if it is new, else 0 and the record that stands.
local player, record, lease_until = ARGV[1], ARGV[2], ARGV[3]
local _, wanted, mu, joined = parse(record)
local id, pool, old_mu = held(player)
if id then
  if pool == wanted then
    redis.call('ZADD', LEASES, 'GT', lease_until, player)
    if redis.call('HEXISTS', CLAIMED, player) == 0 then
      redis.call('ZADD', waiting(pool), old_mu, player)
    end
  end
  return {0, redis.call('HGET', TICKETS, player)}
end
forget(player, nil)
redis.call('HSET', TICKETS, player, record)
redis.call('ZADD', LEASES, lease_until, player)
redis.call('ZADD', waiting(wanted), mu, player)
redis.call('ZADD', order(wanted), joined, player)
redis.call('ZREM', GONE, player)
return {1, record}
