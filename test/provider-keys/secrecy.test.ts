import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { dumpTables } from "../support/databases/test-tables.ts";
import { answerHello, type Responder } from "../support/vendors/recording-vendor.ts";
import { makeAccount, makeKey, type Site, startSite } from "./site.ts";

const OWN = "own-hidden-secret-0123456789";
const NEWER = "own-hidden-newer-9876543210";

/** Returns every file of a folder as bytes. */
function readAll(folder: string): [string, Buffer][] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile())
    .map((file) => [file, readFileSync(file)]);
}

/** Sends all kinds of requests with two secrets, also invalid ones. Returns the bodies of all responses. */
async function useUp(site: Site): Promise<string[]> {
  const account = await makeAccount(site);
  const key = await makeKey(site, account);
  const path = `/accounts/${account}/provider-keys`;
  const answers: string[] = [];
  const collect = async (answer: Promise<{ text: string }>) => answers.push((await answer).text);
  const id = await site.bring(account, "near", OWN);
  // The vendor repeats the key in every field of its errors.
  const echo =
    (status: number): Responder =>
    ({ headers }) => {
      const sent = headers.get("authorization")?.replace("Bearer ", "");
      const error = { message: `key ${sent} is wrong`, code: sent, type: sent, param: sent };
      return Response.json({ error }, { status });
    };
  for (const status of [200, 400, 401, 402, 403, 429, 500, 503]) {
    site.near.reset(status === 200 ? answerHello : echo(status));
    await collect(site.chat(key, { provider: { only: ["near"] } }));
    await collect(site.chat(key, { stream: true, provider: { only: ["near"] } }));
    await collect(site.manage(`${path}/${id}/test`, { method: "POST" }));
    // Gives the key another label, so that it has no cooldown.
    await collect(site.manage(`${path}/${id}`, { method: "PATCH", body: { key: OWN } }));
  }
  site.near.reset();
  await collect(site.manage(`${path}/${id}`, { method: "PATCH", body: { key: NEWER } }));
  await collect(site.chat(key));
  await collect(site.manage(path));
  await collect(site.manage(path, { method: "POST", body: { provider: "unknown", key: OWN } }));
  await collect(site.manage(path, { method: "POST", body: { provider: "near", key: OWN, wrong: 1 } }));
  return answers;
}

describe("the secret of a BYOK key", () => {
  test("is in no response, no line of the log and no file, neither journal nor database", async () => {
    const site = await startSite();
    const answers = await useUp(site);
    const log = JSON.stringify(site.gateway.log);
    for (const secret of [OWN, NEWER, Buffer.from(OWN).toString("base64").slice(0, 30)]) {
      for (const answer of answers) expect(answer).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
    // Stopping writes the remaining records.
    await site.stores.close();
    await site.gateway.stop({ keepData: true });
    const { dataDir } = site.gateway;
    const files = readAll(dataDir);
    const stored = await dumpTables(dataDir);
    const databases = files.filter(([name]) => name.includes("gateway.db"));
    expect(databases.length > 0 || stored.length > 0).toBe(true);
    for (const secret of [OWN, NEWER]) expect(stored).not.toContain(secret);
    for (const [name, bytes] of files) {
      for (const secret of [OWN, NEWER]) expect([name, bytes.includes(secret)]).toEqual([name, false]);
    }
    await Promise.all([site.near.stop(), site.far.stop(), site.openai.stop()]);
  });
});
