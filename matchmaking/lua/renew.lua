-- ARGV: lease's end, players … Answers two lists: those whose ticket is lost, and those whose ticket ended on purpose.
local lost, gone = {}, {}
for i = 2, #ARGV do
  local player = ARGV[i]
  if redis.call('HEXISTS', TICKETS, player) == 1 then
    redis.call('ZADD', LEASES, 'GT', ARGV[1], player)
  elseif redis.call('ZSCORE', GONE, player) then
    table.insert(gone, player)
  else
    table.insert(lost, player)
  end
end
return {lost, gone}
