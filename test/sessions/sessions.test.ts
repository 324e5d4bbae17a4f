import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, manage } from "../support/money.ts";
import {
  CREDITS,
  expectExactBooks,
  expectOwnSignatures,
  expectWholeChain,
  expectWholeHistories,
} from "./check-session.ts";
import { runSession, type Session } from "./run-session.ts";
import { createHttpClient, createSocketClient } from "./session-clients.ts";
import { type SessionVendors, startSessionVendors } from "./session-vendors.ts";

const ACCOUNT = "user_agent";
const CLIENTS = { HTTP: createHttpClient, "a WebSocket": createSocketClient };

describe.each(Object.entries(CLIENTS))("a session of twenty turns over %s", (_way, createClient) => {
  let vendors: SessionVendors;
  let gateway: TestGateway;
  let key: string;
  let session: Session;

  beforeAll(async () => {
    vendors = startSessionVendors();
    // Only kept responses bring back what vendors require.
    const yaml = `${vendors.yaml}limits: {turn_memory_bytes: 0}\n`;
    gateway = await startTestGateway({ yaml, usesRedis: false, repeats: 0 });
    key = await addAccountWithKey(gateway, { id: ACCOUNT });
    await manage(gateway, `/accounts/${ACCOUNT}/credits`, { amount: CREDITS / 1e9 });
    const client = createClient(key);
    session = await runSession(client, vendors, () => gateway);
    await client.close();
  });
  afterAll(async () => {
    await gateway.stop();
    vendors.stop();
  });

  test("gives each vendor the whole conversation in its order, with all calls and results", () => {
    expectWholeHistories(session, vendors);
  });

  test("gives each vendor its own signatures and encrypted reasoning back, byte for byte", () => {
    expectOwnSignatures(vendors);
  });

  test("has one record for each response, and is charged what the vendors billed", async () => {
    await expectExactBooks(gateway, session, vendors, ACCOUNT);
  });

  test("is kept with each turn once", async () => {
    await expectWholeChain(gateway, key, session);
    expect(session.responses.every(({ store }) => store)).toBe(true);
  });
});
