import { z } from "zod";
import type { ListedTier } from "../../../core/catalog/tiers/tier-manager.ts";
import { describeReload, presentReload } from "../../../core/settings/config-reload.ts";
import { presentSetting, SETTING_SOURCES, type Setting } from "../../../core/settings/setting.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { ConfigChangeView } from "./config-change-view.ts";

const SettingView = z
  .object({
    name: z.string().meta({ description: "Path in the configuration.", examples: ["limits.body_bytes"] }),
    value: z.unknown().describe("The value in force. Secrets are masked. `null` means it has none."),
    source: z
      .enum(SETTING_SOURCES)
      .describe(
        "Where the value comes from. `database`: it is stored, and can be changed with `PATCH /api/admin/config`, tiers with `PUT /api/admin/tiers/{id}`.",
      ),
    file: z.string().nullable().describe("The configuration file, if the value comes from it."),
    line: z.int().nullable().describe("Line of the setting in the file."),
    variable: z.string().nullable().describe("The environment variable, if the value comes from one."),
    references: z
      .array(z.string())
      .describe(
        "Sources of the value in the file: names of environment variables, and `file:` with the path of a file.",
      ),
    is_secret: z.boolean(),
    needs_restart: z
      .boolean()
      .describe(
        "Whether a new value takes effect only after a restart. A reload applies all other settings.",
      ),
    awaits_restart: z
      .boolean()
      .describe("Whether the last reload found a new value, which takes effect after a restart."),
    description: z.string().describe("What the setting does."),
  })
  .meta({ id: "Setting", description: "A setting of the gateway, and where its value comes from." });

/** `GET /api/admin/settings`: the configuration in force, with the source of each value. */
export const listSettings = defineEndpoint({
  method: "GET",
  path: "/api/admin/settings",
  tag: "Settings",
  summary: "List the settings in force and where each value comes from, with secrets masked",
  access: OPERATOR,
  response: z.object({ data: z.array(SettingView) }),
  async handle({ deps }) {
    const stored = (await deps.resources.tierManager.list()).filter(({ source }) => source === "database");
    return { data: [...deps.resources.listSettings(), ...stored.map(describeTier)].map(presentSetting) };
  },
});

/** `POST /api/admin/settings/reload`: reads the configuration file again. */
export const reloadSettings = defineEndpoint({
  method: "POST",
  path: "/api/admin/settings/reload",
  tag: "Settings",
  summary: "Reload the configuration file: all of its changes that need no restart are applied, or none",
  needs: "gateway",
  access: OPERATOR,
  query: z.strictObject({
    dry_run: z.enum(["true", "false"]).default("false").describe("`true` only lists the changes."),
  }),
  response: z.object({
    data: z.object({
      applied: z.boolean().describe("Whether the changes that need no restart are in force."),
      changes: z.array(ConfigChangeView),
    }),
  }),
  errors: ["conflict"],
  async handle({ query, deps, audit }) {
    const reload = await deps.resources.reloadConfig({ dryRun: query.dry_run === "true" });
    audit({ changes: describeReload(reload) });
    return { data: presentReload(reload) };
  },
});

function describeTier({ tier }: ListedTier): Setting {
  return {
    name: `tiers.${tier.id}`,
    value: tier,
    source: "database",
    file: null,
    line: null,
    variable: null,
    references: [],
    isSecret: false,
    needsRestart: false,
    awaitsRestart: false,
    description: "A stored tier. It is changed with `PUT /api/admin/tiers/{id}`.",
  };
}
