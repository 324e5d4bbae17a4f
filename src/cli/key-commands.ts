import type { Command } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { systemClock } from "../base/clock.ts";
import { createKey, describeKey } from "../core/accounts/manage-keys.ts";
import type { KeyRecord } from "../core/accounts/records.ts";
import { formatTable } from "./format-table.ts";
import { withStores } from "./with-stores.ts";

/** `gateway keys create|list|revoke`: works on the data directory, whether or not a gateway runs on it. */
export function addKeyCommands(program: Command): void {
  const keys = program.command("keys").description("make, list and revoke API keys");
  keys
    .command("create")
    .description("make a key; its secret is shown this once")
    .argument("<name>", "what the key is for")
    .option("--management", "a key for management instead of inference")
    .option("--expires <time>", "when it ends, such as 2027-01-31 or 2027-01-31T12:00:00Z")
    .option("--json", "print JSON")
    .action((name: string, options: CreateOptions) => withStores((stores) => create(stores, name, options)));
  keys
    .command("list")
    .description("list keys, newest first")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => withStores((stores) => list(stores, options.json === true)));
  keys
    .command("revoke")
    .description("revoke a key; a running gateway refuses it within a second")
    .argument("<id>", "the key's id, key_…")
    .action((id: string) => withStores((stores) => revoke(stores, id)));
}

interface CreateOptions {
  readonly management?: boolean;
  readonly expires?: string;
  readonly json?: boolean;
}

async function create(stores: Stores, name: string, options: CreateOptions): Promise<string> {
  const expiresAt = options.expires === undefined ? null : Date.parse(options.expires);
  if (expiresAt !== null && !(expiresAt > stores.clock.now())) {
    throw new Error("--expires must be a time in the future, such as 2027-01-31");
  }
  const kind = options.management ? "management" : "inference";
  const { secret, key } = await createKey(stores, { name, kind, expiresAt });
  if (options.json) return JSON.stringify({ key: secret, data: describeKey(key) });
  return `${secret}\n\nThis is ${key.id}, a key for ${kind}. Its secret is not stored: keep it now.`;
}

async function list(stores: Stores, asJson: boolean): Promise<string> {
  const keys = await stores.keys.listKeys();
  if (asJson) return JSON.stringify({ data: keys.map(describeKey) });
  if (keys.length === 0) return "There are no keys. Make one: gateway keys create <name>";
  const rows = keys.map((key) => [key.id, key.name, key.kind, key.hint, day(key.createdAt), stateOf(key)]);
  return formatTable(["id", "name", "kind", "key", "created", "state"], rows);
}

async function revoke(stores: Stores, id: string): Promise<string> {
  const key = await stores.keys.revokeKey(id, stores.clock.now());
  if (key === null) throw new Error(`There is no key ${id}. List them: gateway keys list`);
  return `${key.id} (${key.name}) is revoked.`;
}

function stateOf(key: KeyRecord): string {
  if (key.revokedAt !== null) return `revoked ${day(key.revokedAt)}`;
  if (key.expiresAt === null) return "valid";
  return `${key.expiresAt > systemClock.now() ? "expires" : "expired"} ${day(key.expiresAt)}`;
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
