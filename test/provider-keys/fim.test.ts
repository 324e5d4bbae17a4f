import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";
import { makeAccount, makeKey, type Site, secretsAt, startSite } from "./site.ts";

let site: Site;
let codestral: RecordingVendor;
let mistral: RecordingVendor;

beforeAll(async () => {
  [codestral, mistral] = [startRecordingVendor(), startRecordingVendor()];
  site = await startSite({
    // Cheaper than the host for code, so that not the price decides.
    providers:
      '  mistral: {models: [{id: mistralai/codestral-2508, prices: {prompt: "0.0000001", completion: "0"}}]}\n',
    environment: {
      CODESTRAL_BASE_URL: codestral.baseUrl,
      MISTRAL_BASE_URL: mistral.baseUrl,
      CODESTRAL_API_KEY: "platform-codestral-0123",
    },
  });
});
beforeEach(() => {
  codestral.reset();
  mistral.reset();
});
afterAll(() => Promise.all([site.stop(), codestral.stop(), mistral.stop()]));

async function fill(key: string): Promise<number> {
  const response = await fetch(`${site.gateway.url}/api/fim/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "mistralai/codestral-2508", prompt: "def f(", suffix: "return 1" }),
  });
  await response.text();
  return response.status;
}

describe("fill in the middle with BYOK keys", () => {
  test("calls the host for code first, then the other, each with its BYOK key", async () => {
    const account = await makeAccount(site, { overdraft: 0 });
    const key = await makeKey(site, account);
    await site.bring(account, "mistral", "own-mistral-0123", { order: 0 });
    await site.bring(account, "codestral", "own-codestral-0123", { order: 9 });
    expect(await fill(key)).toBe(200);
    expect([secretsAt(codestral), secretsAt(mistral)]).toEqual([["own-codestral-0123"], []]);
    expect(codestral.last().path).toBe("/v1/fim/completions");

    codestral.reset(() => Response.json({ message: "Unauthorized" }, { status: 401 }));
    expect(await fill(key)).toBe(200);
    expect([secretsAt(codestral), secretsAt(mistral)]).toEqual([
      ["own-codestral-0123"],
      ["own-mistral-0123"],
    ]);
  });

  test("calls a provider with a BYOK key before the host for code with a platform key", async () => {
    const account = await makeAccount(site);
    await site.bring(account, "mistral", "own-mistral-0123");
    expect(await fill(await makeKey(site, account))).toBe(200);
    expect([secretsAt(codestral), secretsAt(mistral)]).toEqual([[], ["own-mistral-0123"]]);
  });

  test("answers 503 and calls no provider with platform keys if a BYOK key cannot be decrypted", async () => {
    const account = await makeAccount(site);
    const id = await site.bring(account, "mistral", "own-mistral-0123");
    const found = (await site.stores.providerKeys.findProviderKey(id))!;
    await site.stores.providerKeys.updateProviderKey(found, { ...found.sealed, masterKeyId: "gone" });
    expect(await fill(await makeKey(site, account))).toBe(503);
    expect([secretsAt(codestral), secretsAt(mistral)]).toEqual([[], []]);
  });
});
