-- ARGV: process, lease's end. Answers how many players the process holds.
redis.call('ZADD', LEASES, ARGV[2], ARGV[1])
return redis.call('SCARD', players_of(ARGV[1]))
