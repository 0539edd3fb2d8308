-- Shared by every script of the pools. All keys carry one hash tag, so a cluster keeps them on one node.
--
-- A ticket's record is "<id>|<pool>|<mu>|<joined>|<JSON>". A ticket is wanted while its record stands in TICKETS; it is
-- then either waiting (the player stands in the pool's waiting set) or claimed (the player stands in CLAIMED).
local TICKETS, LEASES, CLAIMED, CLAIMS, CLAIM_LEASES, GONE, LEAVING = unpack(KEYS)

local function waiting(pool) return '{mm}waiting:' .. pool end  -- players by rating
local function order(pool) return '{mm}order:' .. pool end      -- players by the time they joined

-- id, pool, mu, joined; nothing for a record that cannot be read.
local function parse(record)
  if not record then return nil end
  local id, pool, mu, joined = string.match(record, '^(%w+)|([%w%-]+)|([^|]+)|(%d+)|')
  if not id or not tonumber(mu) then return nil end
  return id, pool, mu, joined
end

local function held(player) return parse(redis.call('HGET', TICKETS, player)) end

local function forget(player, pool)
  redis.call('HDEL', TICKETS, player)
  redis.call('ZREM', LEASES, player)
  redis.call('HDEL', CLAIMED, player)
  if pool then
    redis.call('ZREM', waiting(pool), player)
    redis.call('ZREM', order(pool), player)
  end
end

-- Note that a ticket ended unmatched, and after which wait: what others may expect (matchmaking/estimates.py).
local function note_end(pool, mu, joined, now)
  local key = '{mm}ends:' .. pool
  local wait = math.max(0, tonumber(now) - tonumber(joined))
  redis.call('LPUSH', key, mu .. '|' .. string.format('%d', wait) .. '|0|' .. now)
  redis.call('LTRIM', key, 0, 399)
end

-- Forget a ticket on purpose: connections that still renew it learn that they must not make it anew.
local function finish(player, pool, now)
  forget(player, pool)
  redis.call('ZADD', GONE, now, player)
end
