import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { postChat } from "../../support/gateway/gateway.ts";
import { closing, documentOf, opening } from "../../support/vendors/vendor.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());

const messages = [{ role: "user", content: "Hi" }];

describe("a large answer", () => {
  // Around the size at which the runtime sends head and body separately, and far beyond.
  test.each([4_000, 13_000, 14_000, 15_000, 16_384, 200_000])(
    "of %d bytes arrives complete, streamed and not streamed",
    async (bytes) => {
      const text = "ä”🙂x".repeat(bytes / 10);
      vendors.a.perform(async (call) => {
        if (!call.isStream) return call.respond(200, documentOf(text));
        await call.begin();
        await call.events(...opening(text), ...closing());
        await call.end();
      });
      const whole = await postChat(vendors.gateway, { model: "acme/alone", messages });
      expect(((await whole.json()) as ReturnType<typeof documentOf>).choices[0]?.message.content).toBe(text);
      const streamed = await postChat(vendors.gateway, { model: "acme/alone", stream: true, messages });
      expect(await streamed.text()).toContain(JSON.stringify(text));
    },
  );
});
