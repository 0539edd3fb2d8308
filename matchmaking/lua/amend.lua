-- ARGV: player, the record that stands, the one that replaces it: the same ticket, with the same rating and age.
if redis.call('HGET', TICKETS, ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', TICKETS, ARGV[1], ARGV[3])
return 1
