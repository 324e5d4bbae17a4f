import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { findFreePort } from "../../support/servers/free-port.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const MANAGEMENT_KEY = "management-key-of-the-test-0123456789";

let workspace: Workspace;
let vendor: Vendor;
let gateway: GatewayProcess;
/** The address of the gateway, as an operator configures it. */
let configured: Readonly<Record<string, string>>;

beforeAll(async () => {
  workspace = createWorkspace();
  vendor = startVendor();
  writeFileSync(
    join(workspace.folder, "gateway.yaml"),
    `providers:
  acme: {base_url: "${vendor.baseUrl}", api_keys: [sk-acme-0123456789], models: [{id: acme/model, name: up, context_length: 8192, prices: {prompt: "0", completion: "0"}}]}`,
  );
  configured = { GATEWAY_PORT: String(await findFreePort()) };
  gateway = await workspace.start(configured);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
  workspace.clear();
});

const run = (words: readonly string[], environment = configured) => workspace.run(words, environment);

interface Answer {
  readonly gateway_id: string;
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

const readSessions = async () =>
  JSON.parse((await run(["sessions", "list", "--json"])).stdout) as { readonly data: readonly unknown[] };

describe("gateway health", () => {
  test("without a key it signs in with a one-time code, lists the providers in use, and signs out", async () => {
    const { exitCode, stdout, stderr } = await run(["health"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^Attempts of the last minute at http:\/\/127\.0\.0\.1:\d+ \(gateway_\w+\)\n\nprovider +state +keys +attempts[\s\S]*\nacme +unknown +1\/1 +0 +0 +– +– +closed/,
    );
    expect(stdout).not.toContain("no_key");
    expect((await readSessions()).data).toEqual([]);
    const { data } = JSON.parse((await run(["audit", "list", "--json"])).stdout) as Answer;
    expect(data.map(({ action }) => action).slice(0, 2)).toEqual([
      "DELETE /api/console/session",
      "POST /api/console/session",
    ]);
  });

  test("--json prints the answer of the API, and --all includes providers without a key", async () => {
    const some = JSON.parse((await run(["health", "--json"])).stdout) as Answer;
    const all = JSON.parse((await run(["health", "--json", "--all"])).stdout) as Answer;
    expectPromisedOutput([{ command: "health", json: all }]);
    expect(some.gateway_id).toMatch(/^gateway_/);
    expect(some.data).toContainEqual(expect.objectContaining({ provider: "acme", state: "unknown" }));
    expect(all.data.length).toBeGreaterThan(some.data.length);
  });

  test("--url and GATEWAY_KEY ask a gateway that this machine's configuration does not describe", async () => {
    // Nothing listens at the configured address, and the configured stores are not those of the gateway.
    const elsewhere = { GATEWAY_DATA_DIR: join(workspace.folder, "elsewhere"), GATEWAY_PORT: "0" };
    const { stdout: created } = await run(["keys", "create", "terminal", "--management", "--json"]);
    const { key } = JSON.parse(created) as { readonly key: string };
    const byKey = await run(["health", "--url", gateway.url], { ...elsewhere, GATEWAY_KEY: key });
    expect([byKey.exitCode, byKey.stderr]).toEqual([0, ""]);
    expect(byKey.stdout).toContain("acme");
    await run(["migrate"], elsewhere);
    const byCode = await run(["health", "--url", gateway.url], elsewhere);
    expect([byCode.exitCode, byCode.stderr]).toEqual([
      1,
      expect.stringContaining("has other stores than this configuration. Or send a management key"),
    ]);
    expect((await readSessions()).data).toEqual([]);
  });

  test("a key that may not see the health is rejected with the words of the gateway", async () => {
    const { stdout } = await run(["keys", "create", "caller", "--json"]);
    const { key } = JSON.parse(stdout) as { readonly key: string };
    const { exitCode, stderr } = await run(["health", "--key", key]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("needs a management key")]);
  });
});

describe("gateway health test", () => {
  test("requests one token from the provider and prints the outcome", async () => {
    const { exitCode, stdout, stderr } = await run(["health", "test", "acme"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ok: .*acme\/model, \d+ ms/);
    expect(vendor.calls.map(({ body }) => body["model"])).toEqual(["up"]);
  });

  test("exits with 1 if the provider rejects the key, and prints what it said", async () => {
    vendor.perform((call) => call.respond(401, { error: { message: "Who are you?" } }));
    const { exitCode, stdout } = await run(["health", "test", "acme", "--json"]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      data: { status: "refused", upstream_message: "Who are you?" },
    });
    expectPromisedOutput([{ command: "health test", json: JSON.parse(stdout) }]);
  });

  test("names similar slugs for an unknown provider", async () => {
    const { exitCode, stderr } = await run(["health", "test", "acne"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Similar slugs")]);
  });
});

describe("a command that asks the running gateway", () => {
  test("says so if none runs, and creates no one-time code", async () => {
    const nowhere = { GATEWAY_PORT: String(await findFreePort()), GATEWAY_DATA_DIR: "nowhere" };
    const { exitCode, stderr } = await run(["health"], nowhere);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^No gateway answers at http:\/\/127\.0\.0\.1:\d+: .*gateway start/),
    ]);
    expect(existsSync(join(workspace.folder, "nowhere"))).toBe(false);
  });

  test("says so if something else answers, which gets no credentials", async () => {
    const seen: (string | null)[] = [];
    const other = Bun.serve({
      port: 0,
      fetch(request) {
        seen.push(request.headers.get("authorization"));
        return new Response("<html>Welcome</html>");
      },
    });
    const words = ["health", "--url", other.url.href, "--key", MANAGEMENT_KEY];
    const { exitCode, stderr } = await run(words);
    await other.stop(true);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("is not that of a gateway")]);
    expect(seen).toEqual([null]);
  });

  test("needs an address if the configuration has no fixed port", async () => {
    const { exitCode, stderr } = await run(["health"], { GATEWAY_PORT: "0" });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Name its address with --url")]);
  });
});

describe("gateway providers drain and undrain", () => {
  test("take a provider out of routing for a time, show it in gateway health, and return it", async () => {
    const drained = await run(["providers", "drain", "acme", "--for", "2h", "--note", "an invoice"]);
    expect([drained.exitCode, drained.stderr]).toEqual([0, ""]);
    expect(drained.stdout).toMatch(/^acme gets no new requests until \d{4}-/);
    expect((await run(["health"])).stdout).toMatch(
      /Drained by an operator:\nacme, until \d{4}-[\d-]+T[\d:]+: an invoice/,
    );
    const again = await run(["providers", "drain", "acme", "--for", "2h", "--json"]);
    const undrained = await run(["providers", "undrain", "acme", "--json"]);
    expectPromisedOutput([
      { command: "providers drain", json: JSON.parse(again.stdout) },
      { command: "providers undrain", json: JSON.parse(undrained.stdout) },
    ]);
    expect(JSON.parse(undrained.stdout)).toMatchObject({ data: { provider: "acme", drain: null } });
    expect((await run(["providers", "undrain", "acme"])).stderr).toContain("has no drain");
  });

  test("take one model out of routing until it is undrained", async () => {
    const { stdout } = await run(["providers", "drain", "acme", "--model", "acme/model"]);
    expect(stdout).toContain("acme/model at acme gets no new requests until it is undrained");
    expect((await run(["health"])).stdout).toContain("acme/model at acme, until it is undrained");
    expect((await run(["providers", "undrain", "acme", "--model", "acme/model"])).exitCode).toBe(0);
  });

  test("reject durations and times that are none", async () => {
    expect((await run(["providers", "drain", "acme", "--for", "soon"])).exitCode).toBe(2);
    const { exitCode, stderr } = await run(["providers", "drain", "acme", "--until", "2001-01-01"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--until must be a time in the future")]);
  });
});

describe("gateway health history and incidents", () => {
  const ask = async (key: string) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/model", messages: [{ role: "user", content: "Hi" }] }),
    });
    await response.text();
  };

  test("print how providers have done, with a strip of outcomes, and what failed", async () => {
    vendor.perform((call) => call.respond(500, { error: { message: "the disk is full" } }));
    const { key } = JSON.parse((await run(["keys", "create", "asker", "--json"])).stdout) as { key: string };
    for (let count = 0; count < 5; count++) await ask(key);
    // The running gateway is asked, because it saves its counts only every ten seconds.
    const at = ["--url", gateway.url];
    const history = await run(["health", "history", "--range", "day", ...at]);
    expect([history.exitCode, history.stderr]).toEqual([0, ""]);
    expect(history.stdout).toMatch(/\nacme +(\d+) +0\.0 % +\1 +0 +0\n/);
    expect(history.stdout).toContain("15 minutes each: + ok   ~ degraded   x down   . no attempts");
    expect(history.stdout).toMatch(/\nacme +\.{94,95}x{1,2}$/m);
    const incidents = await run(["health", "incidents", "--state", "open", ...at]);
    expect(incidents.stdout).toMatch(
      /\nacme +(degraded|down) .* s, lasts +0 +5 +\d+ × 500 upstream_error +acme\/model/,
    );
  });

  test("read the stores, also without a running gateway", async () => {
    const nowhere = { GATEWAY_PORT: "0" };
    const none = await run(["health", "history", "--provider", "other"], nowhere);
    expect([none.exitCode, none.stdout]).toEqual([
      0,
      expect.stringContaining("No attempts in the last hour."),
    ]);
    const { stdout } = await run(["health", "incidents", "--state", "ended"], nowhere);
    expect(stdout).toContain("No incidents.");
  });
});
