import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import packageJson from "../../../package.json" with { type: "json" };
import { describeApi } from "../../../src/http/openapi/describe-api.ts";
import type { OperationObject } from "../../../src/http/openapi/document.ts";
import { ENDPOINTS } from "../../../src/http/routes/endpoints.ts";
import { FIXED_ROUTES, GATEWAY_ROUTES, OPEN_FIXED_ROUTES } from "../../../src/http/server/route-table.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const DOCUMENT = describeApi();

/** Routes that are documented under another name. */
const ALIASES = new Set(["GET /api/gateway/", "POST /api/gateway/fim/completions"]);

/** Requests that change nothing, with more input than a query can have. */
const READING_POSTS = new Set(
  ENDPOINTS.filter(({ changesNothing }) => changesNothing).map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`,
  ),
);

/** Pages that browsers and the OpenID Connect provider open. */
const PAGES = / (\/console$|\/console\/|\/docs\/\*|\/api\/console\/oidc\/(?!trials))/;

/** Returns every method and path in the notation of the document, for one prefix. */
function listRoutes(): string[] {
  const routes = [
    ...Object.entries(FIXED_ROUTES),
    ...Object.entries(OPEN_FIXED_ROUTES),
    ...Object.entries(GATEWAY_ROUTES).map(([path, methods]) => [`/api/gateway${path}`, methods] as const),
  ];
  return routes
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`),
    )
    .filter((route) => !ALIASES.has(route) && !PAGES.test(route));
}

function listOperations(): { readonly route: string; readonly operation: OperationObject }[] {
  return Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

describe("the OpenAPI document", () => {
  test("describes every route and nothing else", () => {
    expect(
      listOperations()
        .map(({ route }) => route)
        .sort(),
    ).toEqual(listRoutes().sort());
  });

  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const verdict = await validator.validate(structuredClone(DOCUMENT) as never);
    expect(verdict.errors ?? []).toEqual([]);
    expect(verdict.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("fails validation if a required field is missing", async () => {
    const { info, ...rest } = structuredClone(DOCUMENT);
    const verdict = await new Validator().validate({ ...rest, info: { title: info.title } } as never);
    expect(verdict.valid).toBe(false);
  });

  test("has the package's version, and a unique id for each operation", () => {
    expect(DOCUMENT.info.version).toBe(packageJson.version);
    const ids = listOperations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^(get|post|put|patch|delete)[A-Z]\w+$/);
  });

  test("has no unresolved references and no unused components", () => {
    const refs = new Set(JSON.stringify(DOCUMENT).match(/#\/components\/\w+\/[\w-]+/g));
    const parts = Object.entries(DOCUMENT.components)
      .filter(([kind]) => kind !== "securitySchemes")
      .flatMap(([kind, members]) => Object.keys(members).map((name) => `#/components/${kind}/${name}`));
    expect([...refs].filter((ref) => !parts.includes(ref))).toEqual([]);
    expect(parts.filter((part) => !refs.has(part))).toEqual([]);
  });

  test("lists every path parameter, and describes every parameter", () => {
    for (const { route, operation } of listOperations()) {
      const inPath = operation.parameters.flatMap((one) =>
        "name" in one && one.in === "path" ? one.name : [],
      );
      expect([route, ...inPath]).toEqual([
        route,
        ...[...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string),
      ]);
      for (const one of operation.parameters)
        if ("name" in one)
          expect([route, one.name, one.description]).toEqual([route, one.name, expect.any(String)]);
    }
  });

  test("has pagination, idempotency keys, errors and security on every management operation", () => {
    for (const { route, operation } of listOperations()) {
      if (!route.includes("/api/admin/")) continue;
      const names = operation.parameters.map((one) => ("name" in one ? one.name : one.$ref));
      expect([route, names.includes("#/components/parameters/IdempotencyKey")]).toEqual([
        route,
        route.startsWith("POST") && !READING_POSTS.has(route),
      ]);
      expect([route, names.includes("limit")]).toEqual([route, names.includes("after")]);
      expect([route, ...Object.keys(operation.responses)]).toEqual(
        expect.arrayContaining([route, "401", "403", "500", "503"]),
      );
      expect(operation.security.length).toBeGreaterThan(0);
    }
  });
});

describe("GET /openapi.json and /docs/reference", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

  test("are public, and are answered with 304 if unchanged", async () => {
    for (const [path, type] of [
      ["/openapi.json", "application/json"],
      ["/docs/reference", "text/html; charset=utf-8"],
    ] as const) {
      const first = await fetch(gateway.url + path);
      expect([first.status, first.headers.get("content-type")]).toEqual([200, type]);
      const etag = first.headers.get("etag") as string;
      const again = await fetch(gateway.url + path, { headers: { "if-none-match": etag } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect((await fetch(gateway.url + path, { method: "POST" })).status).toBe(405);
    }
    expect(await (await fetch(`${gateway.url}/openapi.json`)).json()).toEqual(structuredClone(DOCUMENT));
  });

  test("the page lists every operation, and neither runs scripts nor loads anything", async () => {
    const response = await fetch(`${gateway.url}/docs/reference`);
    const page = await response.text();
    for (const { operation } of listOperations())
      expect(page).toContain(`<article id="${operation.operationId}">`);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=|\sstyle=/);
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] as string;
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none';");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(policy).not.toContain("unsafe");
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1] as string);
    for (const link of links) expect(page).toContain(`id="${link}"`);
  });
});
