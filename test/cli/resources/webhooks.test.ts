import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { findFreePort } from "../../support/servers/free-port.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/servers/webhook-receiver.ts";

let workspace: Workspace;
let receiver: WebhookReceiver;
let gateway: GatewayProcess;
let configured: Readonly<Record<string, string>>;

beforeAll(async () => {
  workspace = createWorkspace();
  receiver = startWebhookReceiver();
  writeFileSync(
    join(workspace.folder, "gateway.yaml"),
    `webhooks: [{url: "${receiver.url}", format: slack, events: [provider.down]}]`,
  );
  configured = { GATEWAY_PORT: String(await findFreePort()) };
  gateway = await workspace.start(configured);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
  workspace.clear();
});

test("gateway webhooks test sends a test event, and exits with 1 if the receiver does not take it", async () => {
  const taken = await workspace.run(["webhooks", "test"], configured);
  expect([taken.exitCode, taken.stderr]).toEqual([0, ""]);
  expect(taken.stdout).toContain("taken (status 204)");
  expect(receiver.received[0]?.body.text).toContain("webhook.test");
  receiver.answers.push(new Response("no", { status: 403 }));
  const failed = await workspace.run(["webhooks", "test", "--index", "0", "--json"], configured);
  expect(failed.exitCode).toBe(1);
  expect(JSON.parse(failed.stdout).data[0]).toMatchObject({ status: 403, error: "status 403" });
  const listed = await workspace.run(["webhooks", "list", "--json"], configured);
  expectPromisedOutput([
    { command: "webhooks test", json: JSON.parse(failed.stdout) },
    { command: "webhooks list", json: JSON.parse(listed.stdout) },
  ]);
});

test("gateway webhooks list shows the receivers without their paths", async () => {
  const { stdout } = await workspace.run(["webhooks", "list"], configured);
  expect(stdout).toContain(new URL(receiver.url).origin);
  expect(stdout).not.toContain("/hook");
});
