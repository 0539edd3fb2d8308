-- Shared by every script of presence. All keys carry one hash tag, so a cluster keeps them on one node.
--
-- LEASES: web processes by the end of their lease. SHOWN: the players whom others have been told to be online.
-- DUE: players by the time when it is to be looked whether they are offline. LEFT: players who have no connection, by
-- the time when the last one ended. Every live connection is in two sets: the process's players, the player's processes.
local LEASES, SHOWN, DUE, LEFT = unpack(KEYS)

local function players_of(process) return '{presence}players:' .. process end
local function processes_of(player) return '{presence}processes:' .. player end

-- The latest end of a lease by which the player is connected; nil without one.
local function held_until(player)
  local latest
  for _, process in ipairs(redis.call('SMEMBERS', processes_of(player))) do
    local lease = tonumber(redis.call('ZSCORE', LEASES, process))
    if lease and (not latest or lease > latest) then latest = lease end
  end
  return latest
end

-- The player's connection to a process ended at `at`; others are told at `due`, unless there is another by then.
local function part(process, player, at, due)
  redis.call('SREM', players_of(process), player)
  redis.call('SREM', processes_of(player), process)
  if not held_until(player) then
    redis.call('ZADD', LEFT, at, player)
    redis.call('ZADD', DUE, due, player)
  end
end
