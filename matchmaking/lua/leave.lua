-- ARGV: player, pool or '' for any, now. Answers 'none'; 'left'; or 'claimed' and the claim that holds the ticket, which
-- will not come back from it, but may be on its way to a game.
local player, wanted, now = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', TICKETS, player) == 0 then return {'none', ''} end
local _, pool = held(player)
if wanted ~= '' and pool and pool ~= wanted then return {'none', ''} end
local claim = redis.call('HGET', CLAIMED, player)
finish(player, pool, now)
if claim then return {'claimed', claim} end
return {'left', ''}
