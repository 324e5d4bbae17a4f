import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { IS_LONG_RUN } from "../../support/long-run.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

const ADMIN = "admin-secrets-0123456789";
const BYOK_KEY = "own-rotated-0123456789";
const [FIRST, SECOND] = ["a".repeat(64), "b".repeat(64)];

let vendor: RecordingVendor;
let workspace: Workspace;

beforeAll(() => {
  vendor = startRecordingVendor();
  workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "gateway.yaml"), yamlFor(vendor));
});
afterAll(async () => {
  workspace.clear();
  await vendor.stop();
});

const start = (environment: Readonly<Record<string, string>> = {}) =>
  workspace.start({ GATEWAY_ADMIN_KEY: ADMIN, ...environment });
const rotate = (secrets: string) => workspace.run(["secrets", "rotate"], { GATEWAY_SECRETS_KEY: secrets });

function manage({ url }: GatewayProcess, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${url}/api/admin/accounts/acct_default/provider-keys${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

test.skipIf(!IS_LONG_RUN)(
  "`gateway secrets rotate` reports a master key as deletable only if the running gateway does not need it",
  async () => {
    const first = await start();
    const stored = await manage(first, "POST", "", { provider: "vendor", key: BYOK_KEY });
    const { id } = ((await stored.json()) as { data: { id: string } }).data;

    // The gateway uses the master key of its data directory, and the command a configured one.
    const early = await rotate(FIRST);
    expect([early.exitCode, early.stdout]).toEqual([1, ""]);
    expect(early.stderr).toContain("encrypts with another master key than this command");
    expect((await manage(first, "POST", `/${id}/test`)).status).toBe(200);
    await first.stop();

    const second = await start({ GATEWAY_SECRETS_KEY: FIRST });
    const moved = await rotate(FIRST);
    expect([moved.exitCode, moved.stderr]).toEqual([0, ""]);
    expect(moved.stdout).toMatch(
      /Re-encrypted 1 secrets[\s\S]*secrets\.key is not needed any more and can be deleted/,
    );

    // A second configured master key that the running gateway does not have yet.
    expect((await rotate(`${SECOND},${FIRST}`)).exitCode).toBe(1);
    expect((await manage(second, "POST", `/${id}/test`)).status).toBe(200);
    expect(vendor.last().headers.get("authorization")).toBe(`Bearer ${BYOK_KEY}`);
    await second.stop();

    const stopped = await rotate(`${SECOND},${FIRST}`);
    expect([stopped.exitCode, stopped.stdout]).toEqual([0, expect.stringContaining("1 secrets")]);
  },
);
