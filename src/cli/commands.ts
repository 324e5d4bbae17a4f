import type { Command } from "commander";

/** A command as the program's help lists it. */
export interface ListedCommand {
  /** The name, and "[options]" and the arguments if the command itself has any. */
  readonly term: string;
  readonly description: string;
  /** Loads the code of the command. Returns what declares its arguments, options, subcommands and action. */
  readonly load: () => Promise<(command: Command) => void>;
}

/** The commands under a heading of the help. */
interface CommandGroup {
  readonly heading: string;
  readonly commands: readonly ListedCommand[];
}

const GATEWAY: readonly ListedCommand[] = [
  {
    term: "start [options]",
    description: "Start the gateway, in one process or several. SIGTERM or Ctrl-C stops it",
    load: async () => (await import("./start/start-command.ts")).declareStartCommand,
  },
  {
    term: "console [options]",
    description:
      "Print a link that signs in one browser to the console as the operator. It works once and expires in an hour",
    load: async () => (await import("./operate/console-command.ts")).declareConsoleCommand,
  },
  {
    term: "health [options]",
    description: "Show the recent health of providers, as measured by the running gateway",
    load: async () => (await import("./resources/routing/health.ts")).declareHealthCommands,
  },
  {
    term: "providers",
    description: "Take providers out of routing, and return them",
    load: async () => (await import("./resources/routing/providers.ts")).declareProviderCommands,
  },
  {
    term: "webhooks",
    description: "List and test the webhooks of events",
    load: async () => (await import("./resources/platform/webhooks.ts")).declareWebhookCommands,
  },
  {
    term: "config",
    description: "Check, inspect and change the configuration",
    load: async () => (await import("./operate/config-commands.ts")).declareConfigCommands,
  },
  {
    term: "import",
    description: "Convert the configuration of another gateway",
    load: async () => (await import("./operate/import-commands.ts")).declareImportCommands,
  },
  {
    term: "connect [options] <client>",
    description: "Configure Claude Code, Codex or OpenCode on this machine to use the gateway",
    load: async () => (await import("./operate/connect-command.ts")).declareConnectCommand,
  },
  {
    term: "ready [options]",
    description:
      "Check whether the running gateway can answer requests. Exits with 0 if it can, otherwise with 1",
    load: async () => (await import("./operate/ready-command.ts")).declareReadyCommand,
  },
  {
    term: "doctor [options]",
    description:
      "Check the installation, and print what is wrong and how to fix it: configuration, data, servers, keys, address, machine. Exits with 1 on a failure",
    load: async () => (await import("./operate/doctor-command.ts")).declareDoctorCommand,
  },
  {
    term: "reload [options]",
    description:
      "Reload the configuration of the running gateway. Applies all changes that need no restart, or none of them",
    load: async () => (await import("./resources/platform/reload.ts")).declareReloadCommand,
  },
  {
    term: "migrate",
    description:
      "Create the tables of the database, or change them for this version. Each start does the same. It is safe while gateways run, and in several processes at once",
    load: async () => (await import("./operate/migrate-command.ts")).declareMigrateCommand,
  },
  {
    term: "catalog",
    description: "Manage the catalog of models and prices",
    load: async () => (await import("./resources/platform/catalog.ts")).declareCatalogCommands,
  },
  {
    term: "models",
    description: "List the models of the catalog, and whether they are served",
    load: async () => (await import("./resources/platform/models.ts")).declareModelCommands,
  },
  {
    term: "tiers",
    description: "Manage tiers: model ids that stand for a choice of models",
    load: async () => (await import("./resources/routing/tiers.ts")).declareTierCommands,
  },
  {
    term: "named-routes",
    description: "Manage named routes: names that clients may send as model",
    load: async () => (await import("./resources/routing/named-routes.ts")).declareNamedRouteCommands,
  },
  {
    term: "route",
    description: "Explain how requests are routed",
    load: async () => (await import("./resources/routing/questions.ts")).declareRouteCommands,
  },
  {
    term: "gateways",
    description: "Manage the gateways that share a database",
    load: async () => (await import("./resources/platform/gateways.ts")).declareGatewayCommands,
  },
  {
    term: "leases",
    description: "Manage the leases that gateways hold on balances and limits",
    load: async () => (await import("./resources/platform/gateways.ts")).declareLeaseCommands,
  },
  {
    term: "storage",
    description: "Copy all data between SQLite and PostgreSQL, and compact the SQLite database",
    load: async () => (await import("./operate/storage-commands.ts")).declareStorageCommands,
  },
  {
    term: "backup",
    description: "Back up a data directory while its gateway runs, verify the backup, and restore it",
    load: async () => (await import("./operate/backup-commands.ts")).declareBackupCommands,
  },
];

const ACCOUNTS: readonly ListedCommand[] = [
  {
    term: "keys",
    description: "Manage API keys",
    load: async () => (await import("./resources/accounts/keys.ts")).declareKeyCommands,
  },
  {
    term: "users",
    description: "Manage users",
    load: async () => (await import("./resources/accounts/accounts.ts")).declareUserCommands,
  },
  {
    term: "orgs",
    description: "Manage organizations",
    load: async () => (await import("./resources/accounts/accounts.ts")).declareOrganizationCommands,
  },
  {
    term: "members",
    description: "Manage members of organizations",
    load: async () => (await import("./resources/accounts/members.ts")).declareMemberCommands,
  },
  {
    term: "teams",
    description: "Manage teams of organizations, and their members",
    load: async () => (await import("./resources/accounts/teams.ts")).declareTeamCommands,
  },
  {
    term: "invitations",
    description: "Invite people to organizations by links that work once",
    load: async () => (await import("./resources/accounts/invitations.ts")).declareInvitationCommands,
  },
  {
    term: "budgets",
    description: "Manage budgets: limits on spending in each period",
    load: async () => (await import("./resources/accounts/budgets.ts")).declareBudgetCommands,
  },
  {
    term: "policy",
    description: "Try a changed policy of an account on recorded requests",
    load: async () => (await import("./resources/routing/questions.ts")).declarePolicyCommands,
  },
  {
    term: "provider-keys",
    description: "Manage accounts' own provider keys (BYOK)",
    load: async () => (await import("./resources/accounts/provider-keys.ts")).declareProviderKeyCommands,
  },
  {
    term: "secrets",
    description: "Manage the secrets of the configuration, and the master keys that encrypt secrets",
    load: async () => (await import("./operate/secrets-commands.ts")).declareSecretsCommands,
  },
  {
    term: "sessions",
    description: "Manage browsers that are signed in to the console",
    load: async () => (await import("./resources/accounts/sessions.ts")).declareSessionCommands,
  },
  {
    term: "identities",
    description: "Link people who sign in through the OpenID Connect provider to users",
    load: async () => (await import("./resources/accounts/identities.ts")).declareIdentityCommands,
  },
];

const USAGE: readonly ListedCommand[] = [
  {
    term: "credits",
    description: "Manage credits: grants, purchases, corrections and refunds",
    load: async () => (await import("./resources/money/credits.ts")).declareCreditCommands,
  },
  {
    term: "ledger [options] <account>",
    description: "List all ledger entries of an account, newest first",
    load: async () => (await import("./resources/money/ledger.ts")).declareLedgerCommands,
  },
  {
    term: "holds [options]",
    description: "List generations in progress, for which a running gateway holds credits",
    load: async () => (await import("./resources/money/ledger.ts")).declareHoldsCommand,
  },
  {
    term: "requests",
    description: "List, show and follow requests to models",
    load: async () => (await import("./resources/traffic/requests.ts")).declareRequestCommands,
  },
  {
    term: "responses",
    description: "List, show, cancel and delete responses that the gateway keeps",
    load: async () => (await import("./resources/traffic/responses.ts")).declareResponseCommands,
  },
  {
    term: "usage [options]",
    description: "Report usage and cost",
    load: async () => (await import("./resources/traffic/usage.ts")).declareUsageCommand,
  },
];

const LOGS: readonly ListedCommand[] = [
  {
    term: "prompt-log [options] <id>",
    description: "Show the stored request and response bodies of a generation",
    load: async () => (await import("./resources/traffic/prompt-log.ts")).declarePromptLogCommand,
  },
  {
    term: "audit",
    description: "Read and verify the audit log",
    load: async () => (await import("./resources/platform/audit.ts")).declareAuditCommands,
  },
];

/** All commands, in the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { heading: "Gateway:", commands: GATEWAY },
  { heading: "Accounts and keys:", commands: ACCOUNTS },
  { heading: "Credits and usage:", commands: USAGE },
  { heading: "Logs:", commands: LOGS },
];
