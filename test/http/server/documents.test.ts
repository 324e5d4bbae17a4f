import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const DOCS = join(import.meta.dir, "../../../docs");
const FILES = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
/** Pages that one page of the index lists. */
const LISTED_ELSEWHERE = /^adr\/\d/;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const BROWSER = { headers: { accept: "text/html,*/*" } };
const get = (path: string, init?: RequestInit) => fetch(gateway.url + path, { ...BROWSER, ...init });
const readPage = async (path: string) => (await get(path)).text();
const addressOf = (file: string) => `/docs/${file}`.replace(/\/README\.md$|\.md$/, "");
const mainOf = (page: string) => /<main[\s\S]*<\/main>/.exec(page)?.[0] ?? "";

describe("GET /docs", () => {
  test("every document is a page with its title, and every link and picture in it leads to something", async () => {
    const pages = new Map<string, string>();
    const pending = FILES.map((file) => `${gateway.url}${addressOf(file)}`);
    const wrong: string[] = [];
    for (let url = pending.pop(); url !== undefined; url = pending.pop()) {
      if (pages.has(url)) continue;
      const response = await fetch(url, BROWSER);
      const page = await response.text();
      pages.set(url, page);
      if (response.status !== 200) wrong.push(`${url}: ${response.status}`);
      if (!response.headers.get("content-type")?.startsWith("text/html") || url.endsWith("/reference"))
        continue;
      for (const [, link = ""] of page.matchAll(/(?:href|src|action)="([^"]+)"/g)) {
        const target = new URL(link, url);
        if (target.origin === gateway.url) pending.push(target.href.replace(/#.*/, ""));
      }
    }
    const anchors = [...pages].flatMap(([url, page]) =>
      [...mainOf(page).matchAll(/href="([^"]+#[^"]+|#[^"]+)"/g)].map(([, link = ""]) => new URL(link, url)),
    );
    const lost = anchors.filter(
      ({ origin, pathname, hash }) =>
        origin === gateway.url && !pages.get(origin + pathname)?.includes(`id="${hash.slice(1)}"`),
    );
    expect([wrong, lost.map(({ href }) => href)]).toEqual([[], []]);
    expect(anchors.length).toBeGreaterThan(50);
    expect(pages.size).toBeGreaterThan(FILES.length * 2);
  });

  test("the index has a link to every document, except to the decisions, which a page of their own lists", async () => {
    const listed = new Set(
      [...mainOf(await readPage("/docs")).matchAll(/href="([^"#]+)"/g)].map(([, link]) => `/${link}`),
    );
    const missing = FILES.filter((file) => file !== "README.md" && !LISTED_ELSEWHERE.test(file)).filter(
      (file) => !listed.has(addressOf(file)),
    );
    expect(missing).toEqual([]);
    const decisions = await readPage("/docs/adr");
    for (const file of FILES.filter((one) => LISTED_ELSEWHERE.test(one)))
      expect(decisions).toContain(addressOf(file).slice(1));
  });

  test("a page shows the navigation and marks itself in it", async () => {
    const page = await readPage("/docs/operations/install");
    expect(page).toContain('<a href="../../docs/operations/install" aria-current="page">Install</a>');
    expect(page).toContain('<nav aria-label="Pages"><h2>Begin</h2>');
    expect(page).toContain("<title>Install – Gateway</title>");
  });

  test("comments of the Markdown do not appear, and links to files that are not served are plain text", async () => {
    const markdown = readFileSync(join(DOCS, "configuration.md"), "utf8");
    expect(markdown).toContain("](../gateway.example.yaml)");
    const page = mainOf(await readPage("/docs/configuration"));
    expect(page).toContain("gateway.example.yaml");
    expect(page).not.toContain('gateway.example.yaml"');
    for (const file of FILES) expect(mainOf(await readPage(addressOf(file)))).not.toContain("<!--");
  });

  test("pages and pictures are public, and are answered with 304 if unchanged", async () => {
    for (const [path, type] of [
      ["/docs", "text/html; charset=utf-8"],
      ["/docs/routing", "text/html; charset=utf-8"],
      ["/docs/console/requests.webp", "image/webp"],
      ["/docs/performance/small.svg", "image/svg+xml"],
    ] as const) {
      const first = await get(path);
      expect([first.status, first.headers.get("content-type")]).toEqual([200, type]);
      const again = await get(path, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect((await get(path, { method: "POST" })).status).toBe(405);
    }
  });

  test("a page with .md at the end of its path is the Markdown of the page", async () => {
    const response = await get("/docs/operations/install.md");
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await response.text()).toBe(readFileSync(join(DOCS, "operations/install.md"), "utf8"));
  });

  test("a path that ends with a slash leads to the page, below the path of a proxy too", async () => {
    for (const path of ["/docs/", "/docs/api/", "/docs/operations/install//"]) {
      const response = await get(path, { redirect: "manual" });
      expect(response.status).toBe(308);
      const proxied = `https://example.com/tools${path}`;
      const target = new URL(response.headers.get("location") ?? "", proxied).href;
      expect(target).toBe(proxied.replace(/\/+$/, ""));
    }
  });

  test("a path without a document is answered with a page for browsers, and with an error for other clients", async () => {
    for (const path of [
      "/docs/nothing",
      "/docs/surface/commands.txt",
      "/docs/..%2fpackage.json",
      "/docs/%zz",
      "/docs/operations%00",
    ]) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).toContain("There is no page here");
      const other = await fetch(gateway.url + path, { headers: { accept: "application/json" } });
      expect(other.status).toBe(404);
      expect(((await other.json()) as { error: { message: string } }).error.message).toContain(
        "GET /docs lists them",
      );
    }
  });

  test("pages run no script and have no style but those that the policy names by their hash, and load nothing from elsewhere", async () => {
    for (const path of ["/docs", "/docs/console", "/docs/search?q=key", "/docs/nothing"]) {
      const response = await get(path);
      const page = await response.text();
      const policy = response.headers.get("content-security-policy") ?? "";
      const embedded = [...page.matchAll(/<(script|style)>([\s\S]*?)<\/\1>/g)];
      expect(embedded.map(([, name]) => name)).toEqual(["style", "script"]);
      for (const [, name, text = ""] of embedded)
        expect(policy).toContain(
          `${name}-src 'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`,
        );
      expect(policy).toStartWith("default-src 'none';");
      expect(policy).not.toContain("unsafe");
      expect(page).not.toMatch(/src="(https?:)?\/\/|<link|<iframe|@import|url\(|\son\w+=|\sstyle=/);
    }
  });
});

describe("the search of the documents", () => {
  const findTitles = async (query: string) =>
    [
      ...mainOf(await readPage(`/docs/search?q=${encodeURIComponent(query)}`)).matchAll(
        /<li><a href="([^"]+)">([^<]*)/g,
      ),
    ].map(([, url, title]) => [url, title]);

  test("it finds sections with all words, those with the words in their titles first, and endpoints", async () => {
    const found = await findTitles("Prompt CACHES");
    expect(found[0]).toEqual(["../docs/routing#prompt-caches", "Prompt caches"]);
    expect(await findTitles("post /api/admin/keys")).toContainEqual([
      "../docs/reference#postAdminKeys",
      "POST /api/admin/keys",
    ]);
    expect(await findTitles("prompt xyzzy")).toEqual([]);
  });

  test("it shows the text around a found word, and what was searched for as text", async () => {
    const page = await readPage(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(page).toContain("&quot;&gt;&lt;script&gt;");
    expect(page).not.toContain("<script>alert");
    const found = mainOf(await readPage("/docs/search?q=tamper-evident"));
    expect(found).toContain("tamper-evident list of changes");
  });

  test("without words it finds nothing, and of a long text it reads only the beginning", async () => {
    expect(await findTitles("  ")).toEqual([]);
    expect((await get(`/docs/search?q=${"a".repeat(6_000)}`)).status).toBe(200);
    expect((await findTitles(`key ${" ".repeat(300)} xyzzy`)).length).toBeGreaterThan(10);
  });
});
