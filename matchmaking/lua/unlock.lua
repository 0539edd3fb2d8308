-- ARGV: pool, token. Gives a pool's wave lease back if it is still ours.
local key = '{mm}wave:' .. ARGV[1]
if redis.call('GET', key) == ARGV[2] then return redis.call('DEL', key) end
return 0
