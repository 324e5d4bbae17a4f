import { expect, test } from "bun:test";
import { createCacheMemory } from "../../src/core/routing/affinity/cache-memory.ts";

const HOUR_MS = 3_600_000;
const KEYS = { key: "session", caller: "caller" };
const written = (tokens: number, read = 0) => ({ cachedTokens: read, cacheWriteTokens: tokens });

test("a prompt's beginning is known until its cache expires", () => {
  const memory = createCacheMemory();
  expect(memory.wasSent("a", 0)).toBe(false);
  memory.recordSent("a", 300);
  expect([memory.wasSent("a", 299), memory.wasSent("a", 300), memory.wasSent("b", 0)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("two writes that are not read end the marks of a session for an hour", () => {
  const memory = createCacheMemory();
  memory.recordUse(KEYS, written(100), 0);
  expect(memory.isUnread("session", 0)).toBe(false);
  memory.recordUse(KEYS, written(100), 1);
  expect(memory.isUnread("session", 1)).toBe(true);
  expect(memory.isUnread("session", 1 + HOUR_MS)).toBe(false);
});

test("a read of a shorter beginning than the last write is no read of it", () => {
  const memory = createCacheMemory();
  memory.recordUse(KEYS, written(1_000), 0);
  memory.recordUse(KEYS, written(500, 400), 1);
  expect(memory.isUnread("session", 1)).toBe(true);
});

test("a session whose writes are read goes on", () => {
  const memory = createCacheMemory();
  for (let at = 0; at < 10; at++) memory.recordUse(KEYS, written(100, at * 100), at);
  expect([memory.isUnread("session", 10), memory.pays("caller")]).toEqual([false, true]);
});

test("a caller's writes pay as long as 28 in 100 are read, and two that are not are enough at first", () => {
  const memory = createCacheMemory();
  expect(memory.pays("caller")).toBe(true);
  memory.recordUse({ key: "a", caller: "caller" }, written(100), 0);
  expect(memory.pays("caller")).toBe(true);
  memory.recordUse({ key: "b", caller: "caller" }, written(100), 0);
  expect([memory.pays("caller"), memory.pays("another")]).toEqual([false, true]);
  memory.recordUse({ key: "b", caller: "caller" }, written(100, 100), 1);
  expect(memory.pays("caller")).toBe(true);
});

test("what a caller did long ago counts less", () => {
  const memory = createCacheMemory();
  for (let at = 0; at < 200; at++) memory.recordUse(KEYS, written(100, at * 100), at);
  let unread = 0;
  while (memory.pays("caller") && unread < 500)
    memory.recordUse({ key: `x${unread++}`, caller: "caller" }, written(100), 300);
  expect(unread).toBeLessThan(120);
});
