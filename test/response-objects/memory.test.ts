import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Stores } from "../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import type { ObjectContent } from "../../src/core/response-objects/records/response-object.ts";
import type { ResponseStore } from "../../src/core/response-objects/records/response-store.ts";
import { ObjectSeal } from "../../src/core/response-objects/records/seal-object.ts";
import type { StateMemory } from "../../src/core/response-objects/records/state-memory.ts";
import type { ResponseObjects } from "../../src/core/response-objects/response-objects.ts";
import { parseResponsesRequest } from "../../src/wire/client-apis/responses-request.ts";
import { AT, conversationOf, idAt, objectAt } from "../storage/contracts/response-store.ts";
import { dropDatabases } from "../support/databases/test-databases.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { makeMasterKey, openResponses, vaultOf } from "../support/kept-responses.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

const BYTES = 5_000;
const OWNER = { accountId: "org_a", userId: "user_a", keyId: "key_a" };
const CONTENT: ObjectContent = {
  ...{ output: [], response: "{}", handovers: {} },
  input: [JSON.stringify({ type: "message", id: "msg_1", role: "user", content: "a".repeat(BYTES) })],
};

let dataDir: string;
let stores: Stores;
let responses: ResponseObjects;
/** The methods of the store that were called. */
let calls: string[];
beforeEach(async () => {
  dataDir = makeTempFolder("gateway-memory-");
  stores = await openTestStores(dataDir);
  const vault = vaultOf(makeMasterKey());
  const add = async (ms: number, more: object = {}) => {
    const id = idAt(AT + ms);
    const seal = ObjectSeal.create(vault, createSystemRandom(), { id, accountId: "org_a" });
    const ciphertext = seal.sealContent(CONTENT);
    const place = { bytes: BYTES, chainBytes: BYTES, ...more };
    await stores.responses.addObject(objectAt(ms, { sealed: seal.sealed, ciphertext, ...place }), [], 1e9);
  };
  await add(0);
  await stores.responses.addConversation(conversationOf("conv_1"), 1e9);
  await add(1, { rootId: "conv_1", conversationId: "conv_1" });
  calls = [];
  const watched = new Proxy(stores.responses, {
    get(store, name) {
      const method = store[name as keyof ResponseStore] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        calls.push(String(name));
        return method.apply(store, args);
      };
    },
  });
  const clock = createTestClock(AT + 10_000);
  ({ responses } = openResponses(
    { ...stores, responses: watched },
    { vault, gatewayId: "gateway_a", clock },
  ));
});
afterEach(async () => {
  await stores.close();
  rmSync(dataDir, { recursive: true, force: true });
  await dropDatabases(dataDir);
});

/** A memory without room for a chain. */
function full(): StateMemory {
  return {
    take(bytes) {
      if (bytes > BYTES) throw new Error("no memory");
    },
    giveBack() {},
  };
}

/** A memory that notes how much is taken. */
function noted() {
  const memory = {
    taken: 0,
    most: 0,
    take(bytes: number) {
      memory.taken += bytes;
      memory.most = Math.max(memory.most, memory.taken);
    },
    giveBack(bytes: number) {
      memory.taken -= bytes;
    },
  };
  return memory;
}

function open(fields: object, memory: StateMemory, owner = OWNER) {
  const body = Buffer.from(JSON.stringify({ model: "acme/model", input: "Hi", ...fields }));
  const state = parseResponsesRequest(body, (id) => id).readState?.();
  if (state === undefined) throw new Error("the request has no state");
  const request = { owner, state, memory, model: "acme/model", isStreamed: false, sentHash: null };
  return responses.open({ ...request, compactsNatively: false, zeroRetention: false });
}

const CONTINUED = [{ previous_response_id: idAt(AT) }, { conversation: "conv_1" }];

describe("contents of kept responses", () => {
  test.each(CONTINUED)("are not read without memory for them: %p", async (fields) => {
    await expect(open(fields, full())).rejects.toThrow("no memory");
    await expect(responses.find({ caller: OWNER, id: idAt(AT), memory: full() })).rejects.toThrow(
      "no memory",
    );
    const reading = { caller: OWNER, id: "conv_1", memory: full() };
    await expect(responses.conversations.listItems(reading)).rejects.toThrow("no memory");
    const reads = ["readChain", "readConversation", "findObject"];
    expect(calls.filter((name) => reads.includes(name))).toEqual([]);
  });

  test.each(CONTINUED)(
    "take memory while they are read, and what is left of it afterwards: %p",
    async (fields) => {
      const memory = noted();
      const { body, response } = await open(fields, memory);
      expect(memory.most).toBeGreaterThanOrEqual(4 * BYTES);
      expect(memory.taken).toBe(body.length + response.inputBytes);
      expect(body.length).toBeGreaterThan(BYTES);
    },
  );

  test.each(CONTINUED)("of others are not read before they are refused: %p", async (fields) => {
    const other = { ...OWNER, userId: "user_b" };
    await expect(open(fields, noted(), other)).rejects.toThrow(/not found|no conversation/);
    expect(calls.filter((name) => name.startsWith("read"))).toEqual([]);
  });
});
