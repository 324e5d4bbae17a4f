import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { answerPlainly, type Responder } from "../support/recording-vendor.ts";
import { makeAccount, makeKey, type Site, startSite } from "./site.ts";

const OWN = "own-hidden-secret-0123456789";
const NEWER = "own-hidden-newer-9876543210";

/** Every file of a folder, as bytes. */
function readAll(folder: string): [string, Buffer][] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile())
    .map((file) => [file, readFileSync(file)]);
}

/** Uses and misuses two secrets in every way that leaves something behind; gives all that was answered. */
async function useUp(site: Site): Promise<string[]> {
  const account = await makeAccount(site);
  const key = await makeKey(site, account);
  const path = `/accounts/${account}/provider-keys`;
  const answers: string[] = [];
  const tell = async (answer: Promise<{ text: string }>) => answers.push((await answer).text);
  const id = await site.bring(account, "near", OWN);
  // The vendor repeats the key wherever it can.
  const echo =
    (status: number): Responder =>
    ({ headers }) => {
      const sent = headers.get("authorization")?.replace("Bearer ", "");
      const error = { message: `key ${sent} is wrong`, code: sent, type: sent, param: sent };
      return Response.json({ error }, { status });
    };
  for (const status of [200, 400, 401, 402, 403, 429, 500, 503]) {
    site.near.reset(status === 200 ? answerPlainly : echo(status));
    await tell(site.chat(key, { provider: { only: ["near"] } }));
    await tell(site.chat(key, { stream: true, provider: { only: ["near"] } }));
    await tell(site.manage(`${path}/${id}/test`, { method: "POST" }));
    // Another label, so that it is not left alone.
    await tell(site.manage(`${path}/${id}`, { method: "PATCH", body: { key: OWN } }));
  }
  site.near.reset();
  await tell(site.manage(`${path}/${id}`, { method: "PATCH", body: { key: NEWER } }));
  await tell(site.chat(key));
  await tell(site.manage(path));
  await tell(site.manage(path, { method: "POST", body: { provider: "nobody", key: OWN } }));
  await tell(site.manage(path, { method: "POST", body: { provider: "near", key: OWN, wrong: 1 } }));
  return answers;
}

describe("an own key's secret", () => {
  test("stands in no answer, no log line and no file: neither records nor journal nor database", async () => {
    const site = await startSite();
    const answers = await useUp(site);
    const log = JSON.stringify(site.gateway.log);
    for (const secret of [OWN, NEWER, Buffer.from(OWN).toString("base64").slice(0, 30)]) {
      for (const answer of answers) expect(answer).not.toContain(secret);
      expect(log).not.toContain(secret);
    }
    // With all that a stop writes.
    site.stores.close();
    await site.gateway.stop({ keepData: true });
    const files = readAll(site.gateway.dataDir);
    expect(files.map(([name]) => name).filter((name) => name.includes("gateway.db"))).not.toEqual([]);
    for (const [name, bytes] of files) {
      for (const secret of [OWN, NEWER]) expect([name, bytes.includes(secret)]).toEqual([name, false]);
    }
    await Promise.all([site.near.stop(), site.far.stop(), site.openai.stop()]);
  });
});
