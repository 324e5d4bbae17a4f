import { defineScript } from "./client.ts";

/**
 * The sliding sums of a scope, with the semantics of `base/sliding-sum`: amounts of one second leave together, none leaves early.
 * A hash has the state of each window under its name: [sum, number of the first slice, its last time, its amount, number of the last
 * slice, when it was opened, its last time, its amount], and the slices before the last one as [last time, amount] under the name and
 * the number. Numbers begin at the time of the first slice, so that a correction from before a loss of data never meets a later slice.
 * Times are milliseconds.
 */
const SLIDING_SUMS = `
local SLICE_MS = 1000
local LENGTH_MS = { m = 60000, h = 3600000, t = 60000 }
local SUM, FIRST, FIRST_AT, FIRST_SUM, LAST, OPENED_AT, LAST_AT, LAST_SUM = 1, 2, 3, 4, 5, 6, 7, 8
local call, pack, unpack, floor, max = redis.call, cmsgpack.pack, cmsgpack.unpack, math.floor, math.max
local now = tonumber(ARGV[1])
if now == 0 then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end

-- Returns the last time and the amount of a slice.
local function readSlice(w, number)
  local state = w.state
  if number == state[LAST] then return state[LAST_AT], state[LAST_SUM] end
  if number == state[FIRST] then return state[FIRST_AT], state[FIRST_SUM] end
  local slice = unpack(call('HGET', w.key, w.name .. number))
  return slice[1], slice[2]
end

-- Removes the slices that have left the window.
local function slide(w)
  local state, horizon = w.state, now - w.length
  while state[FIRST] <= state[LAST] do
    local at, amount = readSlice(w, state[FIRST])
    if at > horizon then return end
    if state[FIRST] < state[LAST] then call('HDEL', w.key, w.name .. state[FIRST]) end
    state[SUM] = state[SUM] - amount
    state[FIRST] = state[FIRST] + 1
    if state[FIRST] < state[LAST] then
      local slice = unpack(call('HGET', w.key, w.name .. state[FIRST]))
      state[FIRST_AT], state[FIRST_SUM] = slice[1], slice[2]
    end
    w.isChanged = true
  end
end

local function openWindow(key, name, packed)
  local state = packed and unpack(packed) or { 0, now, 0, 0, now - 1, 0, 0, 0 }
  local w = { key = key, name = name, length = LENGTH_MS[name], state = state }
  slide(w)
  return w
end

-- Adds an amount and returns the number of its slice.
local function add(w, amount)
  local state = w.state
  state[SUM] = state[SUM] + amount
  w.isChanged = true
  if state[FIRST] <= state[LAST] and now - state[OPENED_AT] < SLICE_MS then
    state[LAST_AT] = max(state[LAST_AT], now)
    state[LAST_SUM] = state[LAST_SUM] + amount
    return state[LAST]
  end
  if state[FIRST] <= state[LAST] then
    call('HSET', w.key, w.name .. state[LAST], pack({ state[LAST_AT], state[LAST_SUM] }))
    if state[FIRST] == state[LAST] then state[FIRST_AT], state[FIRST_SUM] = state[LAST_AT], state[LAST_SUM] end
  end
  state[LAST] = state[LAST] + 1
  state[OPENED_AT], state[LAST_AT], state[LAST_SUM] = now, now, amount
  w.isOpened = true
  return state[LAST]
end

-- Makes a key live at least so long from now on.
local function keep(key, length)
  if call('PTTL', key) < length then call('PEXPIRE', key, length + SLICE_MS) end
end

local function save(w)
  if w.isChanged then call('HSET', w.key, w.name, pack(w.state)) end
  -- Amounts may be added to a slice for as long as it is open.
  if w.isOpened then keep(w.key, w.length + SLICE_MS) end
end

-- Returns the time until the sum is at most the ceiling.
local function waitUntil(w, ceiling)
  local rest, wait = w.state[SUM], 0
  for number = w.state[FIRST], w.state[LAST] do
    if rest <= ceiling then break end
    local at, amount = readSlice(w, number)
    rest = rest - amount
    wait = at + w.length - now
  end
  return wait
end

-- Returns the time until the sum is 0, from the end, because nearly always the last slice decides.
local function waitUntilEmpty(w)
  if w.state[SUM] <= 0 then return 0 end
  for number = w.state[LAST], w.state[FIRST], -1 do
    local at, amount = readSlice(w, number)
    if amount > 0 then return at + w.length - now end
  end
  return 0
end
`;

/**
 * Counts a request in all of its scopes or in none.
 * KEYS: the windows and the running requests of each scope. ARGV: the time or 0 for the server's; `admit`, `count` or `peek`; the
 * generation; how long it counts as running without being renewed; its least tokens; the tokens it asks for; then, for each scope,
 * the requests per minute and hour, tokens per minute, and concurrent requests that are allowed, each -1 for no limit.
 * Answer: the index of the scope that rejects, or 0; the index of the limit; the time to wait; then, for each limited window in the
 * order of the arguments, its sum, the times until it is empty and until it has room for one more, the slice of what was added, and
 * the amount.
 */
export const ADMIT = defineScript(`${SLIDING_SUMS}
local NAMES = { 'm', 'h', 't' }
local TOKENS, CONCURRENT = 3, 4
local CONCURRENT_MS = 1000
local mode, id, leaseMs = ARGV[2], ARGV[3], tonumber(ARGV[4])
local least, wanted = tonumber(ARGV[5]), tonumber(ARGV[6])
local windowCount = mode == 'count' and TOKENS - 1 or TOKENS

local function readScope(index)
  local key, first = KEYS[2 * index - 1], 6 + 4 * (index - 1)
  local limits = {}
  for at = 1, 4 do limits[at] = tonumber(ARGV[first + at]) end
  local scope = { running = KEYS[2 * index], concurrent = mode == 'admit' and limits[CONCURRENT] or -1 }
  if limits[1] < 0 and limits[2] < 0 and limits[3] < 0 then return scope end
  local states = call('HMGET', key, 'm', 'h', 't')
  for at = 1, 3 do
    if limits[at] >= 0 then
      local w = openWindow(key, NAMES[at], states[at])
      w.limit, w.added, w.amount = limits[at], 0, 0
      scope[at] = w
    end
  end
  return scope
end

-- Returns the limit that rejects the request, and the time to wait.
local function findRejection(scope)
  if scope.concurrent >= 0 and call('ZCOUNT', scope.running, '(' .. now, '+inf') >= scope.concurrent then
    return CONCURRENT, CONCURRENT_MS
  end
  for at = 1, windowCount do
    local w = scope[at]
    local amount = at < TOKENS and 1 or least
    if w and w.state[SUM] + amount > w.limit then
      if at == TOKENS and amount > w.limit then return at, w.length end
      return at, waitUntil(w, w.limit - amount)
    end
  end
end

local function count(scope)
  for at = 1, windowCount do
    local w = scope[at]
    if w then
      local left = w.limit - w.state[SUM]
      w.amount = at < TOKENS and 1 or wanted <= left and wanted or max(least, floor(left / 2))
      w.added = add(w, w.amount)
    end
  end
  if scope.concurrent >= 0 then
    call('ZADD', scope.running, now + leaseMs, id)
    keep(scope.running, leaseMs)
  end
end

local scopes, answer = {}, { 0, 0, 0 }
for index = 1, #KEYS / 2 do
  scopes[index] = readScope(index)
  if mode ~= 'peek' and answer[1] == 0 then
    local limit, wait = findRejection(scopes[index])
    if limit then answer = { index, limit, wait } end
  end
end
local isCounted = mode ~= 'peek' and answer[1] == 0
local size = 3
for _, scope in ipairs(scopes) do
  if isCounted then count(scope) end
  for at = 1, 3 do
    local w = scope[at]
    if w then
      save(w)
      answer[size + 1], answer[size + 2], answer[size + 3] = w.state[SUM], waitUntilEmpty(w), waitUntil(w, w.limit - 1)
      answer[size + 4], answer[size + 5] = w.added, w.amount
      size = size + 5
    end
  end
end
return answer
`);

/**
 * Applies changes, of which each has four arguments: the index of its key, the window or an operation, and two values.
 * A window: corrects its slice of that number by a difference. `-`: the generation has ended. `+`: it still runs, and its lease
 * begins again. `m+`, `h+`, `t+`: adds an amount to a window. `h=`: adds an amount at a time of the past, unless the window had been
 * there before this call.
 * ARGV: the time or 0 for the server's; the lease; then the changes.
 */
export const CHANGE = defineScript(`${SLIDING_SUMS}
local leaseMs = tonumber(ARGV[2])

local function correct(key, name, number, difference)
  local packed = call('HGET', key, name)
  if not packed then return end
  local state, field = unpack(packed), name .. number
  if number < state[FIRST] or number > state[LAST] then return end
  state[SUM] = state[SUM] + difference
  if number == state[LAST] then
    state[LAST_SUM] = state[LAST_SUM] + difference
  else
    local slice = unpack(call('HGET', key, field))
    call('HSET', key, field, pack({ slice[1], slice[2] + difference }))
    if number == state[FIRST] then state[FIRST_SUM] = state[FIRST_SUM] + difference end
  end
  call('HSET', key, name, pack(state))
end

local function addTo(key, name, amount)
  local w = openWindow(key, name, call('HGET', key, name))
  add(w, amount)
  save(w)
end

local restored = {}
local function restore(key, name, time, amount)
  if restored[key] == nil then restored[key] = call('HEXISTS', key, name) == 0 end
  if not restored[key] then return end
  local present = now
  now = time
  addTo(key, name, amount)
  now = present
end

local function renew(key, id)
  call('ZREMRANGEBYSCORE', key, '-inf', now)
  call('ZADD', key, now + leaseMs, id)
  keep(key, leaseMs)
end

for at = 3, #ARGV, 4 do
  local key, what, first, second = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  if what == '-' then call('ZREM', key, first)
  elseif what == '+' then renew(key, first)
  elseif #what == 1 then correct(key, what, tonumber(first), second)
  elseif what == 'h=' then restore(key, 'h', tonumber(first), second)
  else addTo(key, string.sub(what, 1, 1), second) end
end
return 0
`);
