-- ARGV: pool, player, the unreadable record or '' if there was none. Takes the player out of the pool if that still holds.
local record = redis.call('HGET', TICKETS, ARGV[2])
if (record or '') ~= ARGV[3] then return 0 end
forget(ARGV[2], ARGV[1])
return 1
