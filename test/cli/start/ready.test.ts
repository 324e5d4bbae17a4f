import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { findFreePort } from "../../support/servers/free-port.ts";

let workspace: Workspace;
let gateway: GatewayProcess;
let configured: Readonly<Record<string, string>>;

beforeAll(async () => {
  workspace = createWorkspace();
  configured = { GATEWAY_PORT: String(await findFreePort()) };
  gateway = await workspace.start(configured);
});
afterAll(async () => {
  await gateway.stop();
  workspace.clear();
});

const run = (words: readonly string[], environment = configured) => workspace.run(words, environment);

test("`gateway ready` prints what the running gateway says of its readiness, and needs no key", async () => {
  expect(await run(["ready"])).toEqual({ exitCode: 0, stdout: '{"status":"ready"}\n', stderr: "" });
  expect((await run(["ready", "--url", gateway.url], {})).exitCode).toBe(0);
});

test("`gateway ready` of a gateway that drains ends with 1 and its answer", async () => {
  const answer = { status: "not ready", problems: ["The gateway is shutting down."] };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json(answer, { status: 503 }),
  });
  const { exitCode, stderr } = await run(["ready", "--url", server.url.href]);
  expect([exitCode, stderr]).toEqual([1, `The gateway is not ready (503): ${JSON.stringify(answer)}\n`]);
  await server.stop(true);
});

test("`gateway ready` without a gateway ends with 1 and names the address", async () => {
  const port = await findFreePort();
  const { exitCode, stderr } = await run(["ready"], { GATEWAY_PORT: String(port) });
  expect(exitCode).toBe(1);
  expect(stderr).toStartWith(`No gateway answers at http://127.0.0.1:${port}/readyz: `);
});
