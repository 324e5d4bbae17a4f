import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BillableUnit, placeUnits, VENDORS } from "../../scripts/generate/billable-units.ts";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { resolveProfile } from "../../src/core/catalog/prices/resolve-charges.ts";
import { fitToProfile } from "../../src/wire/client-apis/fit/apply-profile.ts";

const { providers, models } = loadShippedCatalog();

/** Endpoints of a provider with their models. */
function endpointsOf(slug: string) {
  return models.flatMap((model) =>
    model.endpoints
      .filter(
        (endpoint) => endpoint.provider === slug && endpoint.prices !== null && !model.id.endsWith(":free"),
      )
      .map((endpoint) => ({ model, endpoint })),
  );
}

/** Returns what is left of a request with what a unit is about. */
function sendTo(slug: string, { field, tool, endpoint: name }: BillableUnit) {
  const record = providers.find((one) => one.slug === slug);
  const found = endpointsOf(slug).find(({ endpoint }) => name === undefined || endpoint.name === name);
  if (record === undefined || found === undefined) throw new Error(`no ${name ?? "endpoint"} of ${slug}`);
  const [format] = field ?? tool ?? [record.format];
  const profile = resolveProfile({ ...found, record, format, quirks: record.quirks });
  const body = field === undefined ? { tools: [tool?.[1]] } : { [field[1]]: field[2] };
  return { body, sent: fitToProfile(body, { format, profile, refusedFields: new Set() }).body };
}

describe.each(VENDORS)("the units that $vendor charges for", ({ provider, source, units }) => {
  test("are what the catalog's data does with them", () => {
    for (const unit of units) {
      const { price, priceTier, field, tool, status } = unit;
      if (price !== undefined)
        expect([
          unit.unit,
          endpointsOf(provider).some(({ endpoint }) => endpoint.prices?.[price] !== undefined),
        ]).toEqual([unit.unit, true]);
      if (priceTier)
        expect(endpointsOf(provider).some(({ endpoint }) => endpoint.priceTiers !== undefined)).toBe(true);
      if (field === undefined && tool === undefined) continue;
      const { body, sent } = sendTo(provider, unit);
      expect([unit.unit, sent]).toEqual([unit.unit, status === "priced" ? body : {}]);
    }
  });

  test("have a source, and none is listed twice", () => {
    expect(source).toStartWith("https://");
    expect(new Set(units.map(({ unit }) => unit)).size).toBe(units.length);
  });
});

test("docs/pricing.md has the units as `npm run generate` writes them", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/pricing.md"), "utf8");
  expect(placeUnits(page)).toBe(page);
});
