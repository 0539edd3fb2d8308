-- ARGV: since when who has left still counts, players … Answers those who are online.
local since, found = tonumber(ARGV[1]), {}
for i = 2, #ARGV do
  local ended = held_until(ARGV[i]) or tonumber(redis.call('ZSCORE', LEFT, ARGV[i]))
  if ended and ended > since then table.insert(found, ARGV[i]) end
end
return found
