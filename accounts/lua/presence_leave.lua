-- ARGV: process, now, when others are told, players …
for i = 4, #ARGV do
  if redis.call('SISMEMBER', players_of(ARGV[1]), ARGV[i]) == 1 then part(ARGV[1], ARGV[i], ARGV[2], ARGV[3]) end
end
