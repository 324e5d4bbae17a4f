import type { Command } from "commander";
import { TIER_PREFIX } from "../../../core/catalog/tiers/tier-name.ts";
import type { TierRule } from "../../../core/catalog/tiers/tier-records.ts";
import { listNamedModels } from "../../../core/catalog/tiers/tiers.ts";
import { deleteTier, getTier, listTiers, putTier } from "../../../http/routes/routing/admin-tiers.ts";
import type { Caller } from "../../callers/caller.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { readDefinition } from "../../endpoint/read-definition.ts";
import type { Named, NameSource } from "../../endpoint/resolve-name.ts";
import { tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";

const TIER = {
  name: "<tier>",
  help: "Tier: ID, with or without gateway-auto/, or name",
  field: "id",
  named: tiersOf,
} as const;

/** `gateway tiers list|show|set|delete`: tiers, the model ids for a choice of models. */
export function declareTierCommands(tiers: Command): void {
  declareCommands(tiers, [
    defineCommand({
      name: "list",
      endpoint: listTiers,
      show: tableOf([
        ["tier", "id"],
        "name",
        ["defined in", "source", (source, tier) => printSource(String(source), tier)],
        ["rule", "rule", (rule) => `by ${(rule as TierRule).by}`],
        ["models", "rule", (rule) => String(listNamedModels(rule as TierRule).length)],
      ]),
    }),
    defineCommand({
      name: "show",
      endpoint: getTier,
      args: [TIER],
      show: ({ data }) => formatFields({ ...data, rule: JSON.stringify(data.rule) }),
    }),
    defineCommand({
      name: "set",
      description: "Create or replace a tier in the stores. Running gateways use it within a second",
      endpoint: putTier,
      args: [{ name: "<id>", help: "ID of the tier, gateway-auto/…", field: "id" }],
      options: [
        {
          flags: "--file <path>",
          help: "File with the tier in YAML or JSON, without its id (docs/tiers.md)",
          field: null,
          isRequired: true,
        },
      ],
      derives: false,
      async complete({ params }, { options }) {
        // A name must never replace another tier.
        if (!String(params["id"]).startsWith(TIER_PREFIX))
          throw new Error(`<id> must begin with ${TIER_PREFIX}`);
        return { body: readDefinition(String(options["file"])) };
      },
      show: ({ data }) => `Stored ${data.id}. A running gateway uses it within a second.`,
    }),
    defineCommand({
      name: "delete",
      endpoint: deleteTier,
      args: [TIER],
      show: ({ data }) => `Deleted ${data.id}.`,
    }),
  ]);
}

function printSource(source: string, { file, line, replaces }: Readonly<Record<string, unknown>>): string {
  const place = file === null ? source : `${file}:${line}`;
  const others = replaces as readonly string[];
  return others.length === 0 ? place : `${place}, replaces ${others.join(", ")}`;
}

function tiersOf(caller: Caller): NameSource {
  const listSome = async (): Promise<readonly Named[]> => {
    const { data } = (await caller.call(listTiers, {})).body as {
      readonly data: readonly { readonly id: string; readonly name: string }[];
    };
    return data.map(({ id, name }) => ({
      ...{ id, name, isPreferred: true, details: "" },
      aliases: [id, id.slice(TIER_PREFIX.length)],
    }));
  };
  return {
    noun: "tier",
    listedBy: "gateway tiers list",
    find: async (id) => (await listSome()).find((tier) => tier.id === id) ?? null,
    async findByText(text) {
      const wanted = text.toLowerCase();
      return (await listSome()).filter(
        ({ id, name }) => id === TIER_PREFIX + wanted || name.toLowerCase() === wanted,
      );
    },
    listSome,
  };
}
