import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { findFreePort } from "../../support/servers/free-port.ts";
import { type HttpProxy, startHttpProxy } from "../../support/servers/http-proxy.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let secure: ReturnType<typeof Bun.serve>;
let proxy: HttpProxy;
let workspace: Workspace;
let certificates: Certificates;
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  vendor = startVendor();
  certificates = makeCertificates();
  // The same vendor behind TLS, with a certificate of an authority that only the test knows.
  const target = new URL(vendor.baseUrl).origin;
  secure = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: certificates.elsewhere,
    fetch: (request) =>
      fetch(target + new URL(request.url).pathname, {
        method: "POST",
        body: request.body,
        proxy: false,
      } as never),
  });
  proxy = await startHttpProxy((host) =>
    host === "plain.example"
      ? Number(new URL(target).port)
      : host === "elsewhere.example"
        ? secure.port!
        : null,
  );
  workspace = createWorkspace();
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
});
afterAll(async () => {
  workspace.clear();
  proxy.stop();
  vendor.stop();
  await secure.stop(true);
});

const ca = () => {
  const file = join(workspace.folder, "ca.pem");
  writeFileSync(file, certificates.ca);
  return file;
};

/** Starts a gateway with a provider at an address, and returns the status of a chat. */
async function chat(baseUrl: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const models = [{ id: "acme/model:free", prices: { prompt: "0", completion: "0" } }];
  const providers = { acme: { base_url: baseUrl, api_keys: ["sk-acme-0123456789"], models } };
  writeFileSync(join(workspace.folder, "gateway.yaml"), JSON.stringify({ providers }));
  const gateway = await workspace.start(environment);
  const response = await fetch(`${gateway.url}/api/gateway/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/model:free", messages: [{ role: "user", content: "Hello!" }] }),
  });
  await response.text();
  await gateway.stop();
  return response.status;
}

test.skipIf(!RUNS_SLOW_TESTS)(
  "`gateway ready`, `health` and `doctor` call the gateway of this machine without the proxy of the environment",
  async () => {
    const configured = {
      GATEWAY_PORT: String(await findFreePort()),
      GATEWAY_HOST: "0.0.0.0",
      HTTP_PROXY: proxy.url,
      http_proxy: proxy.url,
      HTTPS_PROXY: proxy.url,
    };
    const gateway = await workspace.start(configured);
    gateways.push(gateway);
    const asked = proxy.asked.length;
    expect(await workspace.run(["ready"], configured)).toMatchObject({ exitCode: 0 });
    for (const host of ["localhost", "127.0.0.1"]) {
      const url = `http://${host}:${configured.GATEWAY_PORT}`;
      expect(await workspace.run(["ready", "--url", url], configured)).toMatchObject({ exitCode: 0 });
    }
    expect(await workspace.run(["health"], configured)).toMatchObject({ exitCode: 0 });
    const doctor = await workspace.run(["doctor"], configured);
    expect(doctor.stdout).toContain(`the gateway at http://127.0.0.1:${configured.GATEWAY_PORT} is ready`);
    expect(proxy.asked.slice(asked)).toEqual([]);
  },
);

test.skipIf(!RUNS_SLOW_TESTS)("`gateway ready --url` of another machine uses the proxy", async () => {
  const environment = { HTTP_PROXY: proxy.url };
  expect((await workspace.run(["ready", "--url", "http://gateway.example"], environment)).exitCode).toBe(1);
  expect(proxy.asked.at(-1)).toStartWith("GET http://gateway.example/readyz");
});

test.skipIf(!RUNS_SLOW_TESTS)(
  "a provider is called through HTTP_PROXY, and directly if NO_PROXY names its host",
  async () => {
    expect(await chat("http://plain.example/v1", { HTTP_PROXY: proxy.url })).toBe(200);
    expect(proxy.asked.at(-1)).toStartWith("POST http://plain.example/v1/chat/completions");
    const asked = proxy.asked.length;
    const direct = { HTTP_PROXY: proxy.url, NO_PROXY: "other.example,127.0.0.1" };
    expect(await chat(vendor.baseUrl, direct)).toBe(200);
    expect(proxy.asked.slice(asked)).toEqual([]);
  },
);

test.skipIf(!RUNS_SLOW_TESTS)(
  "a provider with TLS is called through a tunnel of HTTPS_PROXY, and its certificate is checked with NODE_EXTRA_CA_CERTS",
  async () => {
    const url = "https://elsewhere.example/v1";
    expect(await chat(url, { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: ca() })).toBe(200);
    expect(proxy.asked.at(-1)).toStartWith("CONNECT elsewhere.example:443");
    expect(await chat(url, { HTTPS_PROXY: proxy.url })).toBe(503);
  },
);
