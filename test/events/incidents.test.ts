import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { Incidents } from "../../src/core/events/incidents.ts";
import { FileLeases } from "../../src/storage/sqlite/file-leases.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

/** Two gateways that share leases, and what they report. */
function shareIncidents() {
  const dir = makeTempFolder("incidents-");
  const clock = createTestClock();
  const leases = new FileLeases(dir, clock);
  const reports: string[] = [];
  const create = (owner: string) => {
    const incidents = new Incidents({ leases, owner });
    return (isActive: boolean) =>
      incidents.update({
        name: "provider-acme",
        isActive,
        onBegin: () => reports.push(`${owner} begins`),
        onEnd: () => reports.push(`${owner} ends`),
      });
  };
  return {
    ...{ clock, reports, a: create("a"), b: create("b") },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

test("an incident that two gateways see is reported once, and its end once", async () => {
  using shared = shareIncidents();
  const { a, b, reports } = shared;
  await a(true);
  await b(true);
  await a(true);
  expect(reports).toEqual(["a begins"]);
  await b(false);
  await a(false);
  await b(false);
  await a(false);
  await a(false);
  expect(reports).toEqual(["a begins", "a ends"]);
});

test("the end is reported only when no gateway sees the incident any more", async () => {
  using shared = shareIncidents();
  const { a, b, reports } = shared;
  await a(true);
  await b(true);
  await a(false);
  await b(true);
  await a(false);
  expect(reports).toEqual(["a begins"]);
  await b(false);
  await b(false);
  expect(reports).toEqual(["a begins", "b ends"]);
});

test("another gateway follows an incident whose reporter has died", async () => {
  using shared = shareIncidents();
  const { a, b, clock, reports } = shared;
  await a(true);
  await b(true);
  clock.advance(61_000);
  await b(true);
  await b(false);
  await b(false);
  expect(reports).toEqual(["a begins", "b ends"]);
});

test("an incident that comes back is reported again", async () => {
  using shared = shareIncidents();
  const { a, reports } = shared;
  for (const isActive of [true, false, false, true]) await a(isActive);
  expect(reports).toEqual(["a begins", "a ends", "a begins"]);
});

test("a gateway without others needs no leases", async () => {
  const reports: string[] = [];
  const incidents = new Incidents({ leases: null, owner: "a" });
  for (const isActive of [true, true, false, false])
    await incidents.update({
      name: "errors-rate",
      isActive,
      onBegin: () => reports.push("begins"),
      onEnd: () => reports.push("ends"),
    });
  expect(reports).toEqual(["begins", "ends"]);
});
