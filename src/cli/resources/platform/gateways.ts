import type { Command } from "commander";
import {
  giveUpJournal,
  isStillHere,
  sumOfBalances,
  type TakenOver,
  takeOver,
} from "../../../app/several/take-over.ts";
import type { Stores } from "../../../app/stores/stores.ts";
import { formatDollars } from "../../../base/numbers/money.ts";
import type { RegisteredGateway, ReleasedLease } from "../../../core/gateways/gateway-registry.ts";
import { listGateways } from "../../../http/routes/platform/admin-gateways.ts";
import { withStores } from "../../callers/with-stores.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { type Named, resolveName } from "../../endpoint/resolve-name.ts";
import { tableOf } from "../../render/columns.ts";
import { confirm } from "../../render/confirm.ts";
import { formatTable } from "../../render/format-table.ts";

/** `gateway gateways`: the gateways that share a database. */
export function declareGatewayCommands(gateways: Command): void {
  declareCommands(gateways, [
    defineCommand({
      name: "list",
      endpoint: listGateways,
      show: tableOf(
        [
          ["gateway", "id"],
          ...["state", "host", "version", "started_at", "seen_at"],
          ["leased", "leased", (dollars) => Number(dollars).toFixed(2)],
          ["data directory", "data_dir"],
        ],
        "No gateway is registered. Without database.url there is one gateway; `gateway start` tells whether it runs.",
      ),
    }),
  ]);
}

/** `gateway leases release`: what a gateway has left. */
export function declareLeaseCommands(leases: Command): void {
  leases
    .command("release")
    .description(
      "Release the leases of a gateway whose disk is lost. Its running generations become interrupted, and costs that it had not saved are not charged.",
    )
    .argument("<gateway>", "Gateway: ID, or name of its host")
    .option("--yes", "Do not ask for confirmation")
    .action((gateway: string, options: ReleaseOptions) =>
      withStores((stores) => release(stores, gateway, options)),
    );
}

interface ReleaseOptions {
  readonly yes?: boolean;
}

/** The maximum number of leases that are listed. */
const MAX_LISTED = 100;

async function release(stores: Stores, text: string, { yes }: ReleaseOptions): Promise<string> {
  const gone = await find(stores, text);
  const { id } = gone;
  requireGone(gone);
  if (yes !== true && !(await confirm(questionOf(gone)))) return "Nothing was changed.";
  const task = { stores, gone, action: "gateway leases release" };
  // If the journal is available after all, use it.
  const taken = (await takeOver(task)) ?? (await giveUpJournal(task));
  if (taken === null)
    throw new Error(
      `The gateway ${id} has come back, or another process takes it over. Nothing was changed.`,
    );
  return describeRelease(id, taken);
}

/** Finds a gateway. If a host has several, returns the one that is gone. */
async function find({ gateways }: Stores, text: string): Promise<RegisteredGateway> {
  const all = await gateways.list();
  const nameOne = ({ id, host, isLive, dataDir }: RegisteredGateway): Named => ({
    id,
    name: host,
    aliases: [],
    isPreferred: !isLive,
    details: `${dataDir}, ${isLive ? "live" : "gone"}`,
  });
  const named = all.map(nameOne);
  const { id } = await resolveName(
    {
      noun: "gateway",
      listedBy: "gateway gateways list",
      find: async (wanted) => named.find((one) => one.id === wanted) ?? null,
      findByText: async () => named.filter(({ name }) => name.toLowerCase() === text.toLowerCase()),
      listSome: async () => named,
    },
    text,
  );
  return all.find((gateway) => gateway.id === id) as RegisteredGateway;
}

function requireGone(gateway: RegisteredGateway): void {
  const { id, isLive, seenAt, dataDir } = gateway;
  if (isLive)
    throw new Error(
      `The gateway ${id} is live (seen ${new Date(seenAt).toISOString()}). Stop it; it gives back what it has leased. A gateway counts as gone 30 seconds after it was seen.`,
    );
  if (isStillHere(gateway))
    throw new Error(
      `A process on this machine has the data directory ${dataDir} of the gateway ${id}, maybe paused. End that process first.`,
    );
}

function questionOf({ id, host, dataDir, leased }: RegisteredGateway): string {
  return `Release ${formatDollars(leased)} dollars that ${id} has leased (${dataDir} on ${host})? What it spent and had not saved will not be charged.`;
}

function describeRelease(id: string, { recovery, hadJournal, released }: TakenOver): string {
  const records = `${recovery.interrupted} running generations ended as interrupted.`;
  const journal = hadJournal
    ? `The journal of ${id} was on this machine: ${recovery.brought} records were saved.`
    : `The journal of ${id} was given up.`;
  if (released === null)
    return `${journal} ${records}\nIts leases stay, because the journal has entries that this version cannot read. Start a gateway of the version that wrote them on its data directory.`;
  const total = `Released ${formatDollars(sumOfBalances(released))} dollars of balances, in ${released.length} leases.`;
  return [`${journal} ${records}`, total, ...listReleased(released)].join("\n");
}

function listReleased(released: readonly ReleasedLease[]): string[] {
  if (released.length === 0) return [];
  const rows = released
    .slice(0, MAX_LISTED)
    .map(({ accountId, limit, amount }) => [accountId, limit ?? "balance", formatDollars(amount)]);
  const rest = released.length > MAX_LISTED ? [`and ${released.length - MAX_LISTED} more`] : [];
  return ["", formatTable(["account", "of", "dollars"], rows), ...rest];
}
