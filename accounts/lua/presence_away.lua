-- ARGV: now, players … Answers pairs: who is away, and since when (0: not known).
local found = {}
for i = 2, #ARGV do
  local lease = held_until(ARGV[i])
  if not lease or lease <= tonumber(ARGV[1]) then
    table.insert(found, ARGV[i])
    table.insert(found, lease and string.format('%d', lease) or redis.call('ZSCORE', LEFT, ARGV[i]) or '0')
  end
end
return found
