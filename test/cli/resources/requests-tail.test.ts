import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { databaseVariables } from "../../support/databases/test-databases.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";

/** The sources, which run where no program was built of them. */
const MAIN = join(import.meta.dir, "../../../src/main.ts");

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

/** Starts the command beside the gateway. Resolves when it waits for requests. */
async function startTail(...options: readonly string[]) {
  const databases = await databaseVariables(gateway.dataDir);
  const child = Bun.spawn([process.execPath, MAIN, "requests", "tail", ...options], {
    env: { PATH: process.env["PATH"] ?? "", ...databases, GATEWAY_DATA_DIR: gateway.dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });
  const decoder = new TextDecoder();
  let said = "";
  for await (const piece of child.stderr) {
    said += decoder.decode(piece);
    if (said.includes("Waiting for requests")) break;
  }
  return { said, child, read: () => child.stdout.text() };
}

async function chat(content: string): Promise<string> {
  const response = await postChat(gateway, { model: "sandbox/echo", messages: [{ role: "user", content }] });
  await response.text();
  return response.headers.get("x-gateway-generation-id") ?? "";
}

describe.skipIf(!RUNS_SLOW_TESTS)("gateway requests tail", () => {
  test("prints requests of a running gateway as they end", async () => {
    const { said, read, child } = await startTail("--count", "2");
    expect(said).toContain("Ctrl-C");
    const ids = [await chat("one"), await chat("two")];
    const lines = (await read()).trim().split("\n");
    expect(await child.exited).toBe(0);
    expect(lines.map((line) => line.slice(line.indexOf("gen_")))).toEqual(ids);
    for (const line of lines) expect(line).toContain("completed");
  });

  test("prints JSON lines of the requests that match its filter", async () => {
    const { read } = await startTail("--count", "1", "--json", "--outcome", "failed");
    await chat("one");
    const id = await chat("[sandbox:error=400]");
    const lines = (await read()).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ id, outcome: "failed", account_name: "default" }),
    ]);
    expectPromisedOutput([{ command: "requests tail", json: JSON.parse(lines[0] as string) }]);
  });
});
