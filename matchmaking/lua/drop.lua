-- ARGV: now, players … Forgets whatever these players wait for; answers who had a ticket.
local dropped = {}
for i = 2, #ARGV do
  if redis.call('HEXISTS', TICKETS, ARGV[i]) == 1 then
    local _, pool, mu, joined = held(ARGV[i])
    if pool and redis.call('ZSCORE', waiting(pool), ARGV[i]) then note_end(pool, mu, joined, ARGV[1]) end
    finish(ARGV[i], pool, ARGV[1])
    table.insert(dropped, ARGV[i])
  end
end
return dropped
