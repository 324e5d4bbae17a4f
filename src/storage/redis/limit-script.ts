import { defineScript } from "./client.ts";

/**
 * Counts requests in scopes, of which each has one key. It reads all of them with one command, and writes those that have changed.
 *
 * The value of a key: `g`, a number that tells this value from one that was lost; the windows `m`, `h` and `t` with the semantics of
 * `base/numbers/sliding-sum`: the sum, and the slices in one text, because nearly always only the first and the last of them matter; `r`: for each gateway how many requests run there, and when it said so.
 *
 * ARGV[1] is JSON: `now`; `gateway`; `lease`, how long a gateway's running requests count without being renewed; `fresh`, the
 * beginning of new numbers `g`; `known`, for each key the number that the gateway has counted in, or "" if it has counted nothing; and
 * `ops`, lists that begin with the operation and the index of a key:
 * - `admit`, `count`, `peek`: for all keys of the list with their limits (requests a minute, requests an hour, tokens a minute, requests
 *   at once; -1 for none), or for none of them; then the least tokens, those that are reserved, and those for a limit that is smaller.
 * - `correct`: window, first time of the slice, difference. No-op if the slice is not there.
 * - `running`: sets how many requests run at the gateway, or changes it if the last value is true.
 * - `carry`: what the gateway has counted since the key was written last, and all that it has counted, of which the second is added if
 *   the value was lost: for each window, ages and amounts.
 * - `restore`: the same for the window of an hour, unless there is one.
 *
 * The answer is JSON too: the numbers `g`, "" for a key that does not exist; and for each of the first three operations 0 if a value was
 * lost and nothing was counted, or a list: the index of the key that rejects, of the limit, and the time to wait; then, for each
 * window with a limit, its sum, the times until it is empty and until it has room for one more, the slice of what was added, and the
 * amount. Times are milliseconds.
 */
export const COUNT = defineScript(`
local SLICE_MS, SLICES = 1000, 60
local LENGTH_MS = { m = 60000, h = 3600000, t = 60000 }
local NAMES = { 'm', 'h', 't' }
local TOKENS, CONCURRENT, CONCURRENT_MS, NOTHING = 3, 4, 1000, { 0, 0 }
local unpackList, pack, unpack, max, min = unpack, cmsgpack.pack, cmsgpack.unpack, math.max, math.min
local input = cjson.decode(ARGV[1])
local now, gateway, lease = input.now, input.gateway, input.lease
local structPack, structUnpack, sub = struct.pack, struct.unpack, string.sub
-- Of a slice: its first time, how much later its last time is, and its amount.
local FORMAT, BYTES = '<I6I2I6', 14
local values = redis.call('MGET', unpackList(KEYS))
local scopes = {}
for index = 1, #KEYS do
  local state = values[index] and unpack(values[index]) or { g = input.fresh .. index, r = {} }
  local known = input.known[index]
  scopes[index] = { state = state, windows = {}, exists = values[index] and true or false,
    lost = known ~= '' and state.g ~= known, unknown = state.g ~= known }
end

-- Returns the first time, the last time and the amount of a slice.
local function readSlice(w, index)
  local first, span, amount = structUnpack(FORMAT, w.slices, (index - 1) * BYTES + 1)
  return first, first + span, amount
end

-- Replaces a slice, or inserts one before it if removed is 0.
local function writeSlice(w, index, removed, first, last, amount)
  w.slices = sub(w.slices, 1, (index - 1) * BYTES) .. structPack(FORMAT, first, last - first, amount)
    .. sub(w.slices, (index - 1 + removed) * BYTES + 1)
  w.count = w.count + 1 - removed
end

-- Returns a window without the slices that have left it.
local function windowOf(scope, name)
  local w = scope.windows[name]
  if w then return w end
  local saved = scope.state[name]
  w = { length = LENGTH_MS[name], sum = saved and saved[1] or 0, slices = saved and saved[2] or '' }
  w.count = #w.slices / BYTES
  scope.windows[name] = w
  local left = 0
  while left < w.count do
    local _, last, amount = readSlice(w, left + 1)
    if last > now - w.length then break end
    w.sum = w.sum - amount
    left = left + 1
  end
  if left > 0 then
    w.slices, w.count = sub(w.slices, left * BYTES + 1), w.count - left
    scope.changed = true
  end
  return w
end

-- Adds an amount at a time, and returns the first time of its slice.
local function addAt(scope, name, time, amount)
  local w = windowOf(scope, name)
  if time <= now - w.length then return 0 end
  local width = w.count < SLICES and SLICE_MS or w.length / SLICES
  scope.changed = true
  w.sum = w.sum + amount
  local index = w.count
  while index > 0 do
    local first, last, known = readSlice(w, index)
    if first <= time then
      if time - first >= width then break end
      writeSlice(w, index, 1, first, max(last, time), known + amount)
      return first
    end
    index = index - 1
  end
  writeSlice(w, index + 1, 0, time, time, amount)
  return time
end

local function waitUntil(w, ceiling)
  local rest, wait = w.sum, 0
  for index = 1, w.count do
    if rest <= ceiling then break end
    local _, last, amount = readSlice(w, index)
    rest = rest - amount
    wait = last + w.length - now
  end
  return wait
end

-- From the end, because nearly always the last slice decides.
local function waitUntilEmpty(w)
  if w.sum <= 0 then return 0 end
  for index = w.count, 1, -1 do
    local _, last, amount = readSlice(w, index)
    if amount > 0 then return last + w.length - now end
  end
  return 0
end

local function countRunning(scope)
  local sum = 0
  for name, entry in pairs(scope.state.r) do
    if entry[2] + lease <= now then
      scope.state.r[name] = nil
      scope.changed = true
    else
      sum = sum + entry[1]
    end
  end
  return sum
end

local function setRunning(scope, count)
  scope.state.r[gateway] = count > 0 and { count, now } or nil
  scope.changed = true
end

local function ownRunning(scope)
  local entry = scope.state.r[gateway]
  return entry and entry[2] + lease > now and entry[1] or 0
end

-- Returns the tokens that are reserved of a limit, and those that must be left.
local function tokensFor(op, limit)
  local amount = op.whole <= limit and op.whole or op.expected
  return amount, max(op.least, min(limit, amount))
end

local function findRejection(op, scope, limits)
  if op.isRequest and limits[CONCURRENT] >= 0 and countRunning(scope) >= limits[CONCURRENT] then
    return CONCURRENT, CONCURRENT_MS
  end
  for at = 1, op.windows do
    local limit = limits[at]
    if limit >= 0 then
      local name = NAMES[at]
      local amount = 1
      if at == TOKENS then
        if op.least > limit then return at, LENGTH_MS[name] end
        local _, fit = tokensFor(op, limit)
        amount = fit
      end
      local w = windowOf(scope, name)
      if w.sum + amount > limit then return at, waitUntil(w, limit - amount) end
    end
  end
end

local function count(op, scope, limits, added)
  for at = 1, op.windows do
    if limits[at] >= 0 then
      local amount = 1
      if at == TOKENS then amount = tokensFor(op, limits[at]) end
      added[at] = { addAt(scope, NAMES[at], now, amount), amount }
    end
  end
  if op.isRequest and limits[CONCURRENT] >= 0 then setRunning(scope, ownRunning(scope) + 1) end
end

local function ask(list)
  local mode = list[1]
  local op = { isRequest = mode == 'admit', windows = mode == 'count' and TOKENS - 1 or TOKENS,
    least = list[3], whole = list[4], expected = list[5] }
  local asked, answer = {}, { 0, 0, 0 }
  for at = 1, #list[2], 5 do
    local scope = scopes[list[2][at]]
    if scope.lost then return 0 end
    asked[#asked + 1] = { scope = scope, added = {},
      limits = { list[2][at + 1], list[2][at + 2], list[2][at + 3], list[2][at + 4] } }
  end
  if mode ~= 'peek' then
    for index, one in ipairs(asked) do
      local limit, wait = findRejection(op, one.scope, one.limits)
      if limit then
        answer = { index, limit, wait }
        break
      end
    end
    if answer[1] == 0 then
      for _, one in ipairs(asked) do count(op, one.scope, one.limits, one.added) end
    end
  end
  for _, one in ipairs(asked) do
    for at = 1, 3 do
      local limit = one.limits[at]
      if limit >= 0 then
        local w, added, size = windowOf(one.scope, NAMES[at]), one.added[at] or NOTHING, #answer
        answer[size + 1], answer[size + 2], answer[size + 3] = w.sum, waitUntilEmpty(w), waitUntil(w, limit - 1)
        answer[size + 4], answer[size + 5] = added[1], added[2]
      end
    end
  end
  return answer
end

local function addAges(scope, name, list)
  for at = 1, #list, 2 do addAt(scope, name, now - list[at], list[at + 1]) end
end

local OPS = {
  correct = function(scope, name, time, difference)
    local w = windowOf(scope, name)
    for index = w.count, 1, -1 do
      local first, last, amount = readSlice(w, index)
      if first == time then
        difference = max(difference, -amount)
        writeSlice(w, index, 1, first, last, amount + difference)
        w.sum = w.sum + difference
        scope.changed = true
      end
      if first <= time then return end
    end
  end,
  running = function(scope, value, isDifference)
    setRunning(scope, isDifference and ownRunning(scope) + value or value)
  end,
  carry = function(scope, owed, all)
    for name, list in pairs(scope.unknown and all or owed) do addAges(scope, name, list) end
    scope.lost, scope.unknown = false, false
  end,
  restore = function(scope, list)
    if windowOf(scope, 'h').count == 0 then addAges(scope, 'h', list) end
  end,
}

local answers = {}
for _, list in ipairs(input.ops) do
  local change = OPS[list[1]]
  if change then change(scopes[list[2]], list[3], list[4], list[5])
  else answers[#answers + 1] = ask(list) end
end

local numbers = {}
for index, scope in ipairs(scopes) do
  local state = scope.state
  if scope.changed then
    local kept = next(state.r) and lease or 0
    for name, w in pairs(scope.windows) do state[name] = w.count > 0 and { w.sum, w.slices } or nil end
    for name, length in pairs(LENGTH_MS) do
      if state[name] then kept = max(kept, length) end
    end
    redis.call('SET', KEYS[index], pack(state), 'PX', kept + 2 * SLICE_MS)
  end
  numbers[index] = (scope.exists or scope.changed) and state.g or ''
end
return cjson.encode({ g = numbers, a = answers })
`);
