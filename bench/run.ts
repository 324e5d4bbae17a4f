/** Measures the gateway: `npm run bench -- PLAN [options]`. See README.md. */

/** The programs by their names. Each reads the rest of the arguments, and runs while it is loaded. */
const PLANS: Readonly<Record<string, { readonly what: string; readonly run: () => Promise<unknown> }>> = {
  cells: {
    what: "the gateway beside no gateway, a bare relay and Portkey's; what is measured without a name",
    run: () => import("./cells/run.ts"),
  },
  guard: { what: "limits of figures that noise hardly moves", run: () => import("./guard/run.ts") },
  peers: { what: "other gateways and relays beside this one", run: () => import("./peers/run.ts") },
  scale: { what: "what a request costs of each resource of a cluster", run: () => import("./scale/run.ts") },
  rows: { what: "lists of many generations on PostgreSQL", run: () => import("./rows/run.ts") },
  "rows-sqlite": { what: "the same on SQLite", run: () => import("./rows/sqlite.ts") },
  responses: {
    what: "adding and reading response objects, on SQLite or PostgreSQL",
    run: () => import("./rows/responses.ts"),
  },
  console: {
    what: "the console's work for the live feed",
    run: () => {
      process.env["GATEWAY_TEST_BROWSER"] = "true";
      return import("./console/feed.ts");
    },
  },
};

const [first = ""] = process.argv.slice(2);
const name = first === "" || first.startsWith("-") ? "cells" : first;
const plan = PLANS[name];
if (plan === undefined) {
  for (const [known, { what }] of Object.entries(PLANS)) console.log(`  ${known.padEnd(12)} ${what}`);
  process.exit(2);
}
if (name === first) process.argv.splice(2, 1);
await plan.run();

export {};
