import { describe, expect, test } from "bun:test";
import { LocalResponseMemory } from "../../src/core/response-objects/local-responses.ts";

const items = (bytes: number) => ({ items: [Buffer.alloc(bytes)], isStored: false });
const KB = 1024;
/** More than the memory of a buffer besides its bytes. */
const MORE = 200;

const open = (chainBytes = 10 * KB, totalBytes = 100 * KB) => {
  const memory = new LocalResponseMemory({ chainBytes, totalBytes });
  return { memory, connection: memory.open() };
};

describe("the last responses of a connection", () => {
  test("have the items of their conversation until the next response replaces them", () => {
    const { connection } = open();
    const [first, second] = [items(10), items(20)];
    connection.keep("gen_1", first);
    expect(connection.find("gen_1")).toBe(first);
    connection.keep("gen_2", second);
    expect([connection.find("gen_1"), connection.find("gen_2")]).toEqual([null, second]);
  });

  test("belong to one connection", () => {
    const { memory, connection } = open();
    connection.keep("gen_1", items(10));
    expect(memory.open().find("gen_1")).toBeNull();
  });

  test("are kept for each stream, and found by all streams", () => {
    const { connection } = open();
    connection.keep("gen_1", items(1), "planner");
    connection.keep("gen_2", items(2), "critic");
    connection.keep("gen_3", items(3));
    expect(["gen_1", "gen_2", "gen_3"].map((id) => connection.find(id)?.items[0]?.length)).toEqual([1, 2, 3]);
    connection.keep("gen_4", items(4), "planner");
    expect([connection.find("gen_1"), connection.find("gen_2")?.items.length]).toEqual([null, 1]);
  });

  test("are dropped by a failure of the same stream only", () => {
    const { connection } = open();
    connection.keep("gen_1", items(1), "planner");
    connection.evict("gen_1", "critic");
    connection.evict("gen_2", "planner");
    expect(connection.find("gen_1")).not.toBeNull();
    connection.evict("gen_1", "planner");
    expect(connection.find("gen_1")).toBeNull();
  });

  test("are those of 33 streams at most", () => {
    const { connection } = open();
    for (let at = 0; at < 34; at++) connection.keep(`gen_${at}`, items(1), `stream-${at}`);
    expect([connection.find("gen_0"), connection.find("gen_1")?.items.length]).toEqual([null, 1]);
  });

  test("are not kept if the conversation is too long, and the former response is gone as well", () => {
    const { connection, memory } = open(10 * KB);
    connection.keep("gen_1", items(10 * KB - MORE));
    connection.keep("gen_2", items(10 * KB));
    expect([connection.find("gen_1"), connection.find("gen_2"), memory.heldBytes]).toEqual([null, null, 0]);
  });

  test("take no memory once the connection has ended", () => {
    const { connection, memory } = open();
    connection.keep("gen_1", items(KB), "planner");
    connection.keep("gen_2", items(KB));
    expect(memory.heldBytes).toBeGreaterThan(2 * KB);
    connection.close();
    expect([memory.heldBytes, connection.find("gen_2")]).toEqual([0, null]);
  });
});

test("all connections together keep no more than the bound, and those that answered last keep theirs", () => {
  const { memory } = open(10 * KB, 30 * KB);
  const connections = Array.from({ length: 5 }, () => memory.open());
  for (const [at, connection] of connections.entries()) connection.keep(`gen_${at}`, items(9 * KB));
  connections[2]?.keep("gen_2b", items(9 * KB));
  connections[0]?.keep("gen_0b", items(9 * KB));
  const kept = connections.map((connection, at) =>
    [`gen_${at}`, `gen_${at}b`].map((id) => connection.find(id) !== null),
  );
  expect(kept).toEqual([
    [false, true],
    [false, false],
    [false, true],
    [false, false],
    [true, false],
  ]);
  expect(memory.heldBytes).toBeLessThanOrEqual(30 * KB);
});
