import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openConsole } from "../../../src/app/console/open-console.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

/** The path of a built file that the console's page names. */
async function pathOf(name: string): Promise<string> {
  const page = await (await get("/console")).text();
  const [path] = new RegExp(`/console/assets/[^"]+/${name}`).exec(page) ?? [];
  if (path === undefined) throw new Error(`the page does not name ${name}`);
  return path;
}

test("the build of the console, like all files of the data directory, is private to the gateway's user", async () => {
  expect((await get(await pathOf("main.js"))).status).toBe(200);
  const paths = readdirSync(gateway.dataDir, { recursive: true, encoding: "utf8" });
  expect(paths.some((path) => /^console-.*main\.js$/.test(path))).toBe(true);
  const open = paths.filter((path) => (statSync(join(gateway.dataDir, path)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});

describe("the files of the console", () => {
  test("every page of the console is the same document with a strict content security policy", async () => {
    const pages = await Promise.all(
      ["/console", "/console/", "/console/requests/gen_1"].map((path) => get(path)),
    );
    const texts = await Promise.all(pages.map((page) => page.text()));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(texts).size).toBe(1);
    const { headers } = pages[0]!;
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-cache");
  });

  test("a built file is sent in the smallest form that the client accepts, and may be cached for ever", async () => {
    const path = await pathOf("main.js");
    const forms = await Promise.all(
      ["gzip, deflate, br", "gzip", "br;q=0, gzip;q=0.5", "identity"].map((accepted) =>
        get(path, { "accept-encoding": accepted }),
      ),
    );
    expect(forms.map(({ headers }) => headers.get("content-encoding"))).toEqual(["br", "gzip", "gzip", null]);
    expect(new Set(await Promise.all(forms.map((form) => form.text()))).size).toBe(1);
    expect(forms[0]!.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(forms[0]!.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  });

  test("a path that is no built file is 404, also with segments that leave the folder", async () => {
    const path = await pathOf("main.js");
    const paths = [
      path.replace("main.js", "other.js"),
      path.replace("main.js", "..%2f..%2fgateway.db"),
      path.replace("main.js", "%2e%2e/gateway.db"),
      "/console/assets/0123456789abcdef/main.js",
      "/console/assets/main.js",
    ];
    const found = await Promise.all(paths.map((one) => get(one)));
    expect(found.map(({ status }) => status)).toEqual(paths.map(() => 404));
  });

  test("the build is stored in the data directory, and a second start uses it", async () => {
    await get("/console");
    const [folder, ...others] = readdirSync(gateway.dataDir).filter((name) => name.startsWith("console-"));
    expect(others).toEqual([]);
    const marker = join(gateway.dataDir, folder!, "marker.js");
    writeFileSync(marker, "");
    const { files } = await openConsole({ dataDir: gateway.dataDir, builtDir: null }).load();
    expect(files.has("marker.js")).toBe(true);
    rmSync(marker);
  });
});

describe("a console that cannot be shown", () => {
  test("the console is 404 if it is disabled", async () => {
    const other = await startTestGateway({ yaml: "console:\n  enabled: false\n" });
    const responses = await Promise.all(
      ["/console", "/console/requests"].map((path) => fetch(other.url + path)),
    );
    expect(responses.map(({ status }) => status)).toEqual([404, 404]);
    expect(readdirSync(other.dataDir).filter((name) => name.startsWith("console-"))).toEqual([]);
    await other.stop();
  });

  test("the page says that the build failed, the API works, and the next request tries again", async () => {
    const folder = makeTempFolder("gateway-console-");
    const other = await startTestGateway({ yaml: `console:\n  built_dir: ${folder}\n` });
    const failed = await fetch(`${other.url}/console`);
    expect(failed.status).toBe(503);
    expect(await failed.text()).toContain("The console could not be built");
    expect((await fetch(`${other.base}/models`)).status).toBe(200);
    expect(other.log.find(({ event }) => event === "the console could not be built")).toBeDefined();
    writeFileSync(join(folder, "main.js"), "export {};");
    expect((await fetch(`${other.url}/console`)).status).toBe(200);
    await other.stop();
    rmSync(folder, { recursive: true });
  });
});
